//! Callers without access: anonymous ones, another agent, people without a role in it.

use super::world::{World, gap, of, place, session, without_account};
use countersign_engine::{ApiKeyKind, Role};
use countersign_testkit::{Answer, TestAgent, decisions::ALL, on_sqlite};
use http::{Method, Request, header};
use serde_json::{Value, json};

const POSTS: [&str; 5] = ["submit-clarification", "resolve-gap", "confirm-plan", "scaffold-plan", "attest"];
const GETS: [&str; 4] = ["list-gaps", "session-status", "audit", "handoff"];

/// Every request that names a session.
async fn attempts(world: &World, who: &TestAgent, told: &Value) -> Vec<Answer> {
    let with_plan = json!({ "plan_object": without_account(), "session_id": told["session_id"] });
    let mut tried = vec![
        world.post(who, "submit-clarification", &with_plan).await,
        world.post(who, "scaffold-plan", &with_plan).await,
    ];
    tried.extend(goes_on(world, who, told).await);
    tried
}

/// Every request that needs an existing session.
async fn goes_on(world: &World, who: &TestAgent, told: &Value) -> Vec<Answer> {
    let answer = json!({ "session_id": told["session_id"], "gap_id": gap(told, "account")["id"], "answer": "Reserve" });
    let mut tried = vec![
        world.post(who, "resolve-gap", &answer).await,
        world.post(who, "confirm-plan", &session(told)).await,
        world.post(who, "attest", &session(told)).await,
    ];
    for below in GETS {
        tried.push(world.get(who, &of(below, told)).await);
    }
    tried
}

impl World {
    pub(super) async fn rotates(&self, who: &TestAgent, headers: &[(&str, &str)]) -> Answer {
        let request = Request::post(place("rotate-key")).header(header::AUTHORIZATION, format!("Bearer {}", who.token));
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        self.plane.send(request.body(axum::body::Body::empty()).unwrap()).await
    }

    async fn published(&self) -> Value {
        self.plane.get(&place("keys")).await.expect(200).json()
    }
}

on_sqlite! {
    ///
    async fn nothing_is_revealed_without_credentials(kit) {
        let world = World::made(kit).await;
        let told = world.submits(&without_account()).await;
        for below in POSTS {
            let answer = world.plane.post(&place(below), &session(&told)).await;
            assert_eq!(answer.refusal(), (401, "agent_auth_required".into()), "{below}");
        }
        for below in GETS {
            let answer = world.plane.get(&place(&of(below, &told))).await;
            assert_eq!(answer.refusal(), (401, "agent_auth_required".into()), "{below}");
        }
        let unknown = TestAgent { token: "csk_unknown".into(), ..world.agent.clone() };
        for answer in attempts(&world, &unknown, &told).await {
            assert_eq!(answer.refusal(), (403, "not_authorized".into()));
        }
    }

    ///
    async fn a_session_of_another_agent_does_not_exist(kit) {
        let world = World::made(kit).await;
        let told = world.submits(&without_account()).await;
        let other = world.plane.agent_key("alice", ALL).await;
        for answer in attempts(&world, &other, &told).await {
            assert_eq!(answer.refusal(), (404, "not_found".into()));
        }
        assert_eq!(world.submits(&without_account()).await, told, "nothing came of it");
        let own = world.post(&other, "submit-clarification", &json!({ "plan_object": without_account() })).await;
        assert_ne!(own.expect(200).json()["session_id"], told["session_id"], "the same plan of another is another session");

        let nobodys = json!({ "session_id": "00000000-0000-4000-8000-000000000001", "gaps": told["gaps"] });
        for answer in goes_on(&world, &world.agent, &nobodys).await {
            assert_eq!(answer.refusal(), (404, "not_found".into()));
        }
        let no_gap = json!({ "session_id": told["session_id"], "gap_id": "gap-999", "answer": "Reserve" });
        assert_eq!(world.post(&world.agent, "resolve-gap", &no_gap).await.refusal(), (404, "not_found".into()));
    }

    ///
    async fn a_chain_is_read_by_the_people_concerned_and_by_overseers(kit) {
        let world = World::made(kit).await;
        let told = world.submits(&without_account()).await;
        let path = place(&of("audit", &told));
        let audit = world.get(&world.agent, &of("audit", &told)).await.expect(200).text();
        for name in ["oscar", "uma"] {
            let role = if name == "oscar" { Role::Auditor } else { Role::Admin };
            let person = world.plane.person_in("calendar", name, &[role]).await;
            assert_eq!(person.get(&world.plane, &path).await.expect(200).text(), audit, "{name}");
        }
        assert_eq!(world.alice.get(&world.plane, &path).await.expect(200).text(), audit, "it is her agent");
        let device = world.device("audrey", &[Role::Auditor]).await;
        for who in [device, world.admin_key().await] {
            assert_eq!(world.get(&who, &of("audit", &told)).await.expect(200).text(), audit);
            for below in ["list-gaps", "session-status", "handoff"] {
                assert!(!world.get(&who, &of(below, &told)).await.is_success(), "only its agent goes on with it: {below}");
            }
        }
        for name in ["bob", "carol"] {
            let roles: &[Role] = if name == "bob" { &[Role::User] } else { &[Role::Approver] };
            let person = world.plane.person_in("calendar", name, roles).await;
            assert_eq!(person.get(&world.plane, &path).await.refusal(), (404, "not_found".into()), "{name}");
        }
        let point = world.plane.key_of(ApiKeyKind::EnforcementPoint, "alice", &[], &[]).await;
        assert!(!world.get(&point, &of("audit", &told)).await.is_success());
    }

    ///
    async fn only_admins_put_another_key_in_force(kit) {
        let world = World::made(kit).await;
        let before = world.published().await;
        let version = [("aap-version", "2.0")];
        assert_eq!(world.plane.post(&place("rotate-key"), &json!({})).await.refusal(), (401, "agent_auth_required".into()));
        assert_eq!(world.rotates(&world.agent, &version).await.refusal(), (403, "not_authorized".into()));
        for (name, role) in [("bob", Role::User), ("carol", Role::Approver), ("audrey", Role::Auditor)] {
            let person = world.plane.person_in("calendar", name, &[role]).await;
            let answer = person.post(&world.plane, &place("rotate-key"), &json!({})).await;
            assert_eq!(answer.refusal(), (403, "not_authorized".into()), "{name}");
        }
        let uma = world.plane.person_in("calendar", "uma", &[Role::Admin]).await;
        let forged = uma.request(Method::POST, &place("rotate-key")).body(axum::body::Body::empty()).unwrap();
        assert_eq!(world.plane.send(forged).await.refusal(), (403, "csrf_rejected".into()));
        world.plane.advance_secs(301).await;
        let stale = uma.post(&world.plane, &place("rotate-key"), &json!({})).await;
        assert_eq!(stale.refusal(), (403, "fresh_sign_in_required".into()));
        assert_eq!(world.published().await, before);
        let uma = countersign_testkit::TestPerson::sign_in(&world.plane, "uma").await;
        let rotated = uma.post(&world.plane, &place("rotate-key"), &json!({})).await.expect(200).json();
        assert_eq!((rotated["keys"].as_array().unwrap().len(), world.published().await), (2, rotated));
    }
}
