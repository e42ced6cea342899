//! The end of a subscriber token, and the approvals it may carry.

use super::Waiting;
use countersign_testkit::{
    Answer, Plane, TestPerson,
    aaep::{ReceivedEvents, Subscriber},
    decisions::DecisionFixture,
    on_sqlite,
};
use http::Method;
use serde_json::{Value, json};

const PATH: &str = "/aaep/v1/subscriber-tokens";
const DAY_S: i64 = 86_400;

async fn questions(plane: &Plane, token: &Subscriber) -> Answer {
    let request = token.request(Method::GET, "/aaep/v1/questions").body(axum::body::Body::empty()).unwrap();
    plane.send(request).await
}

async fn listed(plane: &Plane, alice: &TestPerson, token: &Subscriber) -> Value {
    let all = alice.get(plane, PATH).await.expect(200).json();
    let all = all["subscriber_tokens"].as_array().unwrap().clone();
    all.into_iter().find(|shown| shown["id"] == token.token_id.as_str()).unwrap()
}

/// Its stream has closed, it receives nothing more, and its answer changes nothing.
async fn is_over(waiting: &mut Waiting) {
    let last = waiting.heard.rest().await.pop().unwrap();
    assert_eq!(last.event.as_deref(), Some("aaep.close"));
    let (plane, phone) = (&waiting.plane, &waiting.phone);
    assert_eq!(questions(plane, phone).await.status, 401);
    assert_eq!(phone.accepts(plane, &waiting.question).await.status, 401);
    assert_eq!(waiting.state().await, "pending");
}

/// A subscriber with a token that its person gave no further power.
async fn plain(alice: &TestPerson, plane: &Plane) -> (Subscriber, ReceivedEvents) {
    let mut phone = alice.subscriber_like(plane, json!({ "name": "phone" })).await;
    phone.subscribes(plane).await;
    let heard = phone.opens_stream(plane).await;
    (phone, heard)
}

on_sqlite! {
    ///
    async fn signing_out_everywhere_ends_every_token_and_its_stream(kit) {
        let mut waiting = Waiting::on(kit).await;
        waiting.alice.send(&waiting.plane, Method::DELETE, "/session/everywhere", &Value::Null).await.expect(204);
        is_over(&mut waiting).await;
        let back = TestPerson::sign_in(&waiting.plane, "alice").await;
        assert_eq!(listed(&waiting.plane, &back, &waiting.phone).await["state"], "ended");
        let page = back.get(&waiting.plane, "/account").await.expect(200).text();
        assert!(page.contains("There are none."), "{page}");
    }

    ///
    async fn a_new_password_ends_every_token_and_its_stream(kit) {
        let mut waiting = Waiting::on(kit).await;
        waiting.plane.engine.people().set_password("alice", "a wholly new password").await.unwrap();
        is_over(&mut waiting).await;
    }

    ///
    async fn a_token_ends_after_ninety_days_or_as_many_as_the_project_says(kit) {
        let DecisionFixture { plane, alice, .. } = kit.decision_fixture().await;
        let phone = alice.subscriber(&plane).await;
        let shown = listed(&plane, &alice, &phone).await;
        assert_eq!(shown["expires_at"], plane.now().plus_secs(90 * DAY_S).to_rfc3339());
        assert_eq!(shown["state"], "active");
        let long = json!({ "name": "x", "lifetime_seconds": 90 * DAY_S + 1 });
        let refused = alice.post(&plane, PATH, &long).await;
        assert_eq!(refused.refusal(), (400, "invalid_request".into()));
        assert!(refused.text().contains("90 days"), "{}", refused.text());
        plane.advance_secs(90 * DAY_S - 1).await;
        assert_eq!(questions(&plane, &phone).await.status, 200);
        plane.advance_secs(1).await;
        assert_eq!(questions(&plane, &phone).await.status, 401);
        let back = TestPerson::sign_in(&plane, "alice").await;
        assert_eq!(listed(&plane, &back, &phone).await["state"], "expired");
    }

    ///
    async fn a_token_without_that_power_approves_nothing_that_is_irreversible_and_high(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let (phone, mut heard) = plain(&alice, &plane).await;
        let decision = agent.requests_approval(&plane, "payments.send", json!({ "to": "acme" })).await;
        let question = heard.next_of("awaiting.confirmation").await;
        let open = questions(&plane, &phone).await.expect(200).json()["questions"][0].clone();
        assert_eq!((&open["assurance"], &open["high_risk_token_suffices"]), (&json!("session"), &json!(true)));
        assert_eq!(open["offer"], json!({ "kind": "prove_first" }));
        phone.accepts(&plane, &question).await.expect(204);
        assert_eq!(agent.reads_decision(&plane, &decision).await.json()["state"], "pending");
        let asked = phone.request(Method::GET, "/mplp/v1/confirms").body(axum::body::Body::empty()).unwrap();
        let asked = plane.send(asked).await.expect(200).json()["items"][0]["confirm_id"].as_str().unwrap().to_owned();
        let path = format!("/mplp/v1/confirms/{asked}/decisions");
        let told = phone.post(&plane, &path, &json!({ "status": "approved" })).await;
        assert_eq!(told.status, 403, "{}", told.text());
        assert!(told.text().contains("allowed to approve") && told.text().contains("/inbox/"), "{}", told.text());
        // It approves less severe actions.
        let letter = agent.requests_approval(&plane, "mail.send", json!({ "to": "bob" })).await;
        let question = heard.next_of("awaiting.confirmation").await;
        phone.accepts(&plane, &question).await.expect(204);
        assert_eq!(agent.reads_decision(&plane, &letter).await.json()["state"], "accepted");
        alice.accepts(&plane, &decision).await;
        assert_eq!(agent.reads_decision(&plane, &decision).await.json()["state"], "accepted");
    }

    ///
    async fn a_token_of_any_power_carries_the_rejection_by_the_agents_person(kit) {
        let setup = countersign_testkit::Setup::payments_with(|document| {
            document.actions[0].assurance = Some("fresh".into());
        });
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture_with(setup).await;
        let (phone, mut heard) = plain(&alice, &plane).await;
        let decision = agent.requests_approval(&plane, "payments.send", json!({ "to": "acme" })).await;
        let question = heard.next_of("awaiting.confirmation").await;
        phone.accepts(&plane, &question).await.expect(204);
        assert_eq!(agent.reads_decision(&plane, &decision).await.json()["state"], "pending");
        phone.rejects(&plane, &question).await.expect(204);
        assert_eq!(agent.reads_decision(&plane, &decision).await.json()["state"], "rejected");
    }

    ///
    async fn a_token_that_its_person_allowed_to_with_a_fresh_proof_approves_it(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        plane.advance_secs(301).await;
        let new = json!({ "name": "phone", "approves_high_risk": true });
        let stale = alice.post(&plane, PATH, &new).await;
        assert_eq!(stale.refusal(), (403, "fresh_sign_in_required".into()));
        let listens = json!({ "name": "ear", "approves_high_risk": true, "may_answer": false });
        let fresh = TestPerson::sign_in(&plane, "alice").await;
        assert_eq!(fresh.post(&plane, PATH, &listens).await.refusal(), (400, "invalid_request".into()));
        let (phone, mut heard) = fresh.subscribed(&plane).await;
        let decision = agent.requests_approval(&plane, "payments.send", json!({ "to": "acme" })).await;
        let question = heard.next_of("awaiting.confirmation").await;
        let open = questions(&plane, &phone).await.expect(200).json()["questions"][0].clone();
        assert_eq!(open["assurance"], "token");
        assert_eq!(open["offer"], json!({ "kind": "decide", "approve": true, "reject": true }));
        phone.accepts(&plane, &question).await.expect(204);
        assert_eq!(agent.reads_decision(&plane, &decision).await.json()["state"], "accepted");
    }

    ///
    async fn where_policy_names_a_floor_that_power_does_not_lower_it(kit) {
        let setup = countersign_testkit::Setup::payments_with(|document| {
            document.actions[0].assurance = Some("session".into());
            document.actions[2].assurance = Some("token".into());
        });
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture_with(setup).await;
        let (phone, mut heard) = alice.subscribed(&plane).await;
        let decision = agent.requests_approval(&plane, "payments.send", json!({ "to": "acme" })).await;
        let question = heard.next_of("awaiting.confirmation").await;
        phone.accepts(&plane, &question).await.expect(204);
        assert_eq!(agent.reads_decision(&plane, &decision).await.json()["state"], "pending");
    }
}
