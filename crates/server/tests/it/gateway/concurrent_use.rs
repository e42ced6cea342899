//! A delegation in use from two networks at the same time is suspended (AAP 13.3, C-86).

use crate::register::support::told;
use countersign_gateway::Network;
use countersign_protocol::project::{ConcurrentUse, ProjectDocument};
use countersign_server::admin::{AdminRequest as _, CreateWebhookSecret};
use countersign_testkit::{
    Answer, Kit, TestPerson,
    bank::{BankFixture, GatewayListener, GatewayRequest},
    deadline::until,
    on_both_stores, on_sqlite,
};
use serde_json::{Value, json};

const OFFICE: &str = "203.0.113.7";
const ELSEWHERE: &str = "198.51.100.1";

fn watched(document: &mut ProjectDocument) {
    document.concurrent_use = Some(ConcurrentUse::default());
}

/// A gateway behind a trusted proxy, which reports the caller's address.
async fn behind_proxy(kit: Kit, change: impl FnOnce(&mut ProjectDocument)) -> BankFixture {
    let mut scene = kit.bank_with(change).await;
    let trusted = |settings: &mut countersign_gateway::GatewaySettings| {
        settings.trusted_proxies = vec![Network::parse("127.0.0.1").unwrap()];
    };
    scene.gateway = GatewayListener::of(&scene.plane, trusted).await;
    scene
}

async fn read(scene: &BankFixture, from: &str) -> Answer {
    scene.sends(GatewayRequest::new("GET", "/accounts").with("x-forwarded-for", from)).await
}

async fn entries(scene: &BankFixture, kind: &str) -> Vec<Value> {
    let query = format!("/agent/audit?delegation_id={}&event_type={kind}", scene.connected.delegation_id);
    scene.alice.get(&scene.plane, &query).await.expect(200).json()["entries"].as_array().unwrap().clone()
}

fn suspended() -> (u16, String) {
    told(403, "delegation_suspended")
}

async fn lift(scene: &BankFixture, operator_jwt: Option<String>) -> Answer {
    lift_with(scene, operator_jwt, &Value::Null).await
}

async fn lift_with(scene: &BankFixture, operator_jwt: Option<String>, acknowledgement: &Value) -> Answer {
    let id = &scene.connected.delegation_id;
    let body = json!({ "delegation_id": id, "operator_jwt": operator_jwt, "acknowledgement": acknowledgement });
    scene.plane.post("/agent/lift", &body).await
}

/// The newest notice at acme's webhook.
fn notice(scene: &BankFixture) -> Value {
    serde_json::from_slice(&scene.plane.acme().webhooks().last().unwrap().body).unwrap()
}

/// The operator publishes a webhook and has a secret, so that it is told of suspensions.
async fn enrolled(mut scene: BankFixture) -> BankFixture {
    scene.plane.acme().publish_webhook();
    scene.plane.advance_secs(3601).await;
    scene.agent = scene.plane.holder(&scene.connected, |_| {}).await;
    let operator = countersign_protocol::domain::Domain::parse("acme.test").unwrap();
    CreateWebhookSecret { project: None, operator }.run(&scene.plane.engine).await.unwrap();
    scene
}

fn jwt_of(scene: &BankFixture, operator: &str) -> Option<String> {
    Some(scene.plane.operator(operator).jwt(scene.plane.service(), scene.plane.now()))
}

on_both_stores! {
    /// AAP-13.3-05, AAP-13.3-06, AAP-8.5-06
    async fn use_from_two_networks_suspends_the_delegation_tells_the_operator_and_its_acknowledgement_lifts_it(kit) {
        let scene = enrolled(behind_proxy(kit, watched).await).await;

        read(&scene, OFFICE).await.expect(200);
        read(&scene, "203.0.113.99").await.expect(200);
        assert_eq!(entries(&scene, "delegation_suspended").await.len(), 0, "one network");
        let flagged = read(&scene, ELSEWHERE).await;
        assert_eq!(flagged.refusal(), suspended());
        assert_eq!(flagged.header("x-agent-revoke-reason"), None);
        assert_eq!(read(&scene, OFFICE).await.refusal(), suspended());
        assert_eq!(scene.bank.got().len(), 2);
        let [entry] = entries(&scene, "delegation_suspended").await.try_into().unwrap();
        assert_eq!((&entry["reason"], &entry["by"]), (&json!("concurrent_use"), &json!("service")), "{entry:#}");

        assert_eq!(scene.plane.advance_and_deliver(1).await, 1);
        let [message] = scene.plane.acme().webhooks().try_into().unwrap();
        let body: Value = serde_json::from_slice(&message.body).unwrap();
        assert_eq!((&body["event"], &body["trigger"]), (&json!("delegation.suspended"), &json!("concurrent_use")));
        assert_eq!(body["delegation_id"], json!(scene.connected.delegation_id));

        lift_with(&scene, jwt_of(&scene, "acme.test"), &body["acknowledgement"]).await.expect(200);
        read(&scene, ELSEWHERE).await.expect(200);
        assert_eq!(entries(&scene, "delegation_lifted").await[0]["by"], "operator");
        assert_eq!(entries(&scene, "delegation_revoked").await.len(), 0);
        lift(&scene, jwt_of(&scene, "acme.test")).await.expect(200);
    }
}

on_both_stores! {
    /// AAP-13.3-06
    async fn a_thief_of_the_operators_key_lifts_nothing_without_the_notice_of_exactly_this_suspension(kit) {
        let scene = enrolled(behind_proxy(kit, watched).await).await;
        let jwt = || jwt_of(&scene, "acme.test");
        read(&scene, OFFICE).await.expect(200);
        assert_eq!(read(&scene, ELSEWHERE).await.refusal(), suspended());
        let refused = lift(&scene, jwt()).await;
        assert_eq!(refused.refusal(), told(403, "not_authorized"));
        assert!(refused.text().contains("acknowledgement"), "{}", refused.text());
        scene.plane.advance_and_deliver(1).await;
        let first = notice(&scene)["acknowledgement"].clone();
        assert_eq!(lift_with(&scene, jwt(), &json!("ack_00000000000000000000000000000000")).await.status, 403);
        let alone = json!({ "delegation_id": scene.connected.delegation_id, "acknowledgement": first });
        assert_eq!(scene.plane.post("/agent/lift", &alone).await.status, 401, "no credential by itself");
        lift_with(&scene, jwt(), &first).await.expect(200);
        read(&scene, OFFICE).await.expect(200);
        scene.plane.advance_secs(1).await;
        assert_eq!(read(&scene, ELSEWHERE).await.refusal(), suspended());
        assert_eq!(lift_with(&scene, jwt(), &first).await.refusal(), told(403, "not_authorized"), "used up");
        scene.plane.advance_and_deliver(1).await;
        lift_with(&scene, jwt(), &notice(&scene)["acknowledgement"]).await.expect(200);
    }

    /// AAP-13.3-06
    async fn an_operator_without_a_webhook_leaves_the_lift_to_people(kit) {
        let scene = behind_proxy(kit, watched).await;
        read(&scene, OFFICE).await.expect(200);
        assert_eq!(read(&scene, ELSEWHERE).await.refusal(), suspended());
        assert_eq!(lift(&scene, jwt_of(&scene, "acme.test")).await.refusal(), told(403, "not_authorized"));
        let body = json!({ "delegation_id": scene.connected.delegation_id });
        scene.alice.post(&scene.plane, "/agent/lift", &body).await.expect(200);
        read(&scene, OFFICE).await.expect(200);
    }

    /// AAP-13.3-05
    async fn a_call_that_waited_for_its_approval_is_a_use_at_its_arrival_only(kit) {
        let scene = behind_proxy(kit, watched).await;
        let transfer = || BankFixture::transfer().with("x-forwarded-for", OFFICE);
        let (answer, ()) = tokio::join!(scene.sends(transfer().waits(30)), async {
            until("the pending call", async || scene.plane.engine.pending_requests() > 0).await;
            let question = BankFixture::decision(&scene.sends(transfer()).await);
            scene.plane.advance_secs(61).await;
            read(&scene, ELSEWHERE).await.expect(200);
            scene.alice.accepts(&scene.plane, &question).await;
        });
        answer.expect(201);
        read(&scene, ELSEWHERE).await.expect(200);
    }

    ///
    async fn a_suspended_delegation_counts_as_restored_after_a_restore_and_its_operator_cannot_lift_it(kit) {
        let scene = behind_proxy(kit, watched).await;
        scene.approved(BankFixture::transfer()).await;
        let question = BankFixture::decision(&scene.sends(BankFixture::transfer_of("7.00")).await);
        assert_eq!(read(&scene, ELSEWHERE).await.refusal(), suspended());
        let started = scene.plane.engine.start_epoch().await.unwrap();
        assert_eq!((started.delegations, started.questions, started.approvals), (1, 1, 1), "{started:?}");
        assert_eq!(lift(&scene, jwt_of(&scene, "acme.test")).await.refusal(), told(403, "not_authorized"));
        let alice = TestPerson::sign_in(&scene.plane, "alice").await;
        assert_eq!(alice.pending_questions(&scene.plane).await, 0, "{question}");
        let body = json!({ "delegation_id": scene.connected.delegation_id });
        alice.post(&scene.plane, "/agent/lift", &body).await.expect(200);
        let agent = scene.plane.holder(&scene.connected, |_| {}).await;
        let held = scene.sends_as(&agent, BankFixture::transfer().confirmed("true")).await;
        assert_eq!(held.refusal(), told(403, "irreversible_requires_confirm"));
    }
}

on_sqlite! {
    /// AAP-13.3-06
    async fn its_person_and_an_admin_lift_it_and_nobody_else_does(kit) {
        let scene = behind_proxy(kit, watched).await;
        let bob = scene.plane.person("bob").await;
        let body = json!({ "delegation_id": scene.connected.delegation_id });
        for by in ["user", "service"] {
            read(&scene, OFFICE).await.expect(200);
            assert_eq!(read(&scene, ELSEWHERE).await.refusal(), suspended());
            assert_eq!(bob.post(&scene.plane, "/agent/lift", &body).await.refusal(), told(401, "delegation_not_found"));
            assert_eq!(lift(&scene, None).await.status, 401);
            assert_eq!(scene.posts(&scene.agent, "/agent/lift", &body).await.refusal(), suspended());
            assert_eq!(read(&scene, OFFICE).await.refusal(), suspended());
            match by {
                "user" => drop(scene.alice.post(&scene.plane, "/agent/lift", &body).await.expect(200)),
                _ => {
                    let project = scene.plane.at().await.project;
                    scene.plane.engine.lift_delegation(&project, &scene.connected.delegation_id, None).await.unwrap();
                }
            }
            assert_eq!(entries(&scene, "delegation_lifted").await.last().unwrap()["by"], by);
        }
        let page = scene.alice.get(&scene.plane, &format!("/agents/{}", scene.connected.delegation_id)).await;
        assert!(!page.expect(200).text().contains("two networks"));
    }

    /// AAP-13.3-06
    async fn the_person_reads_why_the_agent_is_on_hold(kit) {
        let scene = behind_proxy(kit, watched).await;
        read(&scene, OFFICE).await.expect(200);
        assert_eq!(read(&scene, ELSEWHERE).await.refusal(), suspended());
        let page = scene.alice.get(&scene.plane, &format!("/agents/{}", scene.connected.delegation_id)).await;
        assert!(page.expect(200).text().contains("used from two networks at the same time"));
    }

    /// AAP-13.3-05
    async fn nothing_is_suspended_outside_the_window_without_the_watch_or_by_a_header_of_the_callers_own(kit) {
        let scene = behind_proxy(kit, watched).await;
        read(&scene, OFFICE).await.expect(200);
        scene.plane.advance_secs(60).await;
        read(&scene, ELSEWHERE).await.expect(200);
        let scene = behind_proxy(kit, |_| {}).await;
        read(&scene, OFFICE).await.expect(200);
        read(&scene, ELSEWHERE).await.expect(200);
        let scene = kit.bank_with(watched).await;
        read(&scene, OFFICE).await.expect(200);
        read(&scene, ELSEWHERE).await.expect(200);
    }

    /// AAP-13.3-05
    async fn after_a_lift_no_node_remembers_an_earlier_network(kit) {
        let scene = behind_proxy(kit, watched).await;
        read(&scene, OFFICE).await.expect(200);
        // Suspended by something that this node's memory does not know of, as by another node.
        scene.plane.engine.start_epoch().await.unwrap();
        let project = scene.plane.at().await.project;
        scene.plane.engine.lift_delegation(&project, &scene.connected.delegation_id, None).await.unwrap();
        let agent = scene.plane.holder(&scene.connected, |_| {}).await;
        let elsewhere = GatewayRequest::new("GET", "/accounts").with("x-forwarded-for", ELSEWHERE);
        scene.sends_as(&agent, elsewhere).await.expect(200);
    }

    /// AAP-13.3-05
    async fn a_caller_without_the_key_of_the_token_cannot_have_it_suspended(kit) {
        let scene = behind_proxy(kit, watched).await;
        let bound = scene.another(|_| {}).await;
        let call = || GatewayRequest::new("GET", "/accounts");
        scene.sends_as(&bound, call().with("x-forwarded-for", OFFICE)).await.expect(200);
        let stolen = scene.authenticated(&bound, call().with("x-forwarded-for", ELSEWHERE));
        let stolen = GatewayRequest { headers: stolen.headers.into_iter().filter(|(name, _)| name != "dpop").collect(), ..stolen };
        assert_eq!(scene.sends_raw(stolen).await.status, 401);
        scene.sends_as(&bound, call().with("x-forwarded-for", OFFICE)).await.expect(200);
    }
}
