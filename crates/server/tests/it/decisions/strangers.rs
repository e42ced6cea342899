//! Access to questions: the principal that raised them and nobody else.

use countersign_engine::{ApiKeyKind, NewKey};
use countersign_testkit::{
    Answer, Plane, Setup, TestAgent,
    decisions::{ALL, DecisionFixture, confirmation},
    on_sqlite,
};
use http::{Method, Request, header};
use serde_json::{Value, json};

/// Every request that names a decision.
async fn attempts(plane: &Plane, agent: &TestAgent, asked: &Value) -> Vec<Answer> {
    vec![
        agent.reads_decision(plane, asked).await,
        agent.waits(plane, asked, 55).await,
        agent.claims(plane, asked, &json!({ "digest": asked["digest"] })).await,
        agent.claims(plane, asked, &json!({ "tool": "payments.send", "arguments": { "amount": 82 } })).await,
        agent.reports(plane, asked, "running").await,
        agent.reports(plane, asked, "committed").await,
        agent.withdraws(plane, asked, &json!({})).await,
    ]
}

async fn refused_to_all(plane: &Plane, token: &str, wanted: (u16, &str)) {
    let agent = TestAgent { token: token.to_owned(), principal: String::new() };
    let decision = json!({ "decision_id": "dec_00000000000000000000000000000000", "digest": "00".repeat(32) });
    let mut answers = attempts(plane, &agent, &decision).await;
    answers.push(agent.requests_confirmation(plane, &confirmation("payments.send", json!({}))).await);
    answers.push(agent.requests_clarification(plane, &json!({ "question": "Which?" })).await);
    for answer in answers {
        assert_eq!(answer.refusal(), (wanted.0, wanted.1.into()), "{token}");
    }
}

on_sqlite! {
    ///
    async fn another_principals_question_does_not_exist(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let asked = agent.requests_approval(&plane, "payments.send", json!({ "amount": 82 })).await;
        let connected = plane.connect(&alice, plane.acme(), &["calendar.read"]).await;
        let others = [
            plane.agent_key("alice", ALL).await,
            plane.register(plane.acme(), &connected).await.as_test_agent(),
        ];
        let nowhere = json!({ "decision_id": "dec_00000000000000000000000000000000", "digest": asked["digest"] });
        for state in ["pending", "accepted", "claimed"] {
            match state {
                "accepted" => drop(alice.accepts(&plane, &asked).await),
                "claimed" => {
                    let claim = json!({ "digest": asked["digest"] });
                    drop(agent.claims(&plane, &asked, &claim).await.expect(200));
                }
                _ => {}
            }
            let before = agent.reads_decision(&plane, &asked).await.expect(200).json();
            for other in &others {
                let theirs = attempts(&plane, other, &asked).await;
                let nobodys = attempts(&plane, other, &nowhere).await;
                for (answer, same) in theirs.iter().zip(&nobodys) {
                    assert_eq!(answer.refusal(), (404, "not_found".into()), "{state}");
                    assert_eq!(answer.json()["error_description"], same.json()["error_description"]);
                }
            }
            assert_eq!(agent.reads_decision(&plane, &asked).await.expect(200).json(), before, "{state}");
        }
    }

    ///
    async fn nothing_that_an_agent_holds_gives_an_answer(kit) {
        let DecisionFixture { plane, agent, .. } = kit.decision_fixture().await;
        let asked = agent.requests_approval(&plane, "payments.send", json!({ "amount": 82 })).await;
        let id = asked["decision_id"].as_str().unwrap();
        for (method, path) in [
            (Method::POST, format!("/v1/decisions/{id}")),
            (Method::PUT, format!("/v1/decisions/{id}")),
            (Method::PATCH, format!("/v1/decisions/{id}")),
        ] {
            let body = json!({ "decision": "accept", "state": "accepted" }).to_string();
            let answer = agent.send(&plane.public, method, &path, Some(body)).await;
            assert_eq!(answer.refusal(), (405, "method_not_allowed".into()));
        }
        for below in ["answer", "accept", "reply"] {
            let path = format!("/v1/decisions/{id}/{below}");
            let answer = agent.post(&plane, &path, &json!({ "decision": "accept" })).await;
            assert_eq!(answer.refusal(), (404, "not_found".into()));
        }
        assert_eq!(agent.reads_decision(&plane, &asked).await.json()["state"], "pending");
    }

    ///
    async fn only_an_agents_own_credential_asks(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        for kind in [ApiKeyKind::Admin, ApiKeyKind::EnforcementPoint] {
            let key = plane.key_of(kind, "alice", &[], &[]).await;
            refused_to_all(&plane, &key.token, (403, "not_authorized")).await;
        }
        refused_to_all(&plane, &format!("csk_{}", "A".repeat(43)), (403, "not_authorized")).await;
        refused_to_all(&plane, "not-a-token", (401, "access_token_invalid")).await;
        refused_to_all(&plane, "", (401, "access_token_invalid")).await;
        refused_to_all(&plane, &plane.acme().jwt(plane.service(), plane.now()), (401, "access_token_invalid")).await;
        plane.revoke_key(&agent).await;
        refused_to_all(&plane, &agent.token, (403, "not_authorized")).await;

        let asked = confirmation("payments.send", json!({})).to_string();
        let bare = Request::post("/v1/confirmations").header(header::CONTENT_TYPE, "application/json");
        let answer = plane.send(bare.body(asked.clone().into()).unwrap()).await;
        assert_eq!(answer.refusal(), (401, "agent_auth_required".into()));
        let person = alice.request(Method::POST, "/v1/confirmations").header("x-csrf-token", &alice.csrf);
        let person = person.header(header::CONTENT_TYPE, "application/json").body(asked.into()).unwrap();
        assert_eq!(plane.send(person).await.refusal(), (401, "agent_auth_required".into()));
        assert_eq!(alice.pending_questions(&plane).await, 0);
    }

    ///
    async fn a_registered_agent_without_a_person_behind_it_has_nobody_to_ask(kit) {
        let setup = Setup::payments_with(|document| document.minimum_tier = 1);
        let plane = kit.plane_with(setup).await;
        let body = json!({ "mode": "user_delegated", "operator_jwt": plane.acme().jwt(plane.service(), plane.now()) });
        let agent = plane.register_with(&body, None).await.as_test_agent();
        let answer = agent.requests_confirmation(&plane, &confirmation("payments.send", json!({}))).await;
        assert_eq!(answer.refusal(), (403, "tier_not_met".into()));
    }

    ///
    async fn a_decision_of_one_project_does_not_exist_in_another(kit) {
        let projects = ["north", "south"].map(countersign_testkit::decisions::payments).to_vec();
        let plane = kit.plane_with(Setup { projects, ..Setup::multi() }).await;
        let north = countersign_engine::Address::Scoped("north".into());
        plane.person_in("north", "alice", &[countersign_engine::Role::User]).await;
        plane.give_roles("south", "alice", &[countersign_engine::Role::User]).await;
        let new = |actions: &[&str]| NewKey {
            kind: ApiKeyKind::Agent,
            principal: "job".into(),
            responsible: "alice".into(),
            actions: actions.iter().map(|action| (*action).to_owned()).collect(),
            asks: Vec::new(),
            jkt: None,
        };
        let north = plane.engine.project(&north).await.unwrap().project;
        let key = plane.engine.people().add_key(&north, &new(ALL)).await.unwrap();
        let agent = TestAgent { token: key.secret, principal: key.key.id };
        let body = confirmation("payments.send", json!({ "amount": 82 }));
        let asked = agent.post(&plane, "/projects/north/v1/confirmations", &body).await.expect(201).json();
        let id = asked["decision_id"].as_str().unwrap();
        let below = |project: &str| format!("/projects/{project}/v1/decisions/{id}");
        agent.send(&plane.public, Method::GET, &below("north"), None).await.expect(200);
        let foreign = agent.send(&plane.public, Method::GET, &below("south"), None).await;
        assert_eq!(foreign.refusal(), (403, "not_authorized".into()), "its key is none there");
        let raise = agent.post(&plane, "/projects/south/v1/confirmations", &body).await;
        assert_eq!(raise.refusal(), (403, "not_authorized".into()));
        let unscoped = agent.requests_confirmation(&plane, &body).await;
        assert_eq!(unscoped.refusal(), (404, "project_not_found".into()));
        let mut south = agent.clone();
        let project = plane.engine.project(&countersign_engine::Address::Scoped("south".into())).await.unwrap().project;
        south.token = plane.engine.people().add_key(&project, &new(ALL)).await.unwrap().secret;
        let answer = south.send(&plane.public, Method::GET, &below("south"), None).await;
        assert_eq!(answer.refusal(), (404, "not_found".into()));
    }
}
