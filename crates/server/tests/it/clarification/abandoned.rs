//! Abandoned sessions: by their agent, which still leaves the gaps for a person to be answered, and by people.

use countersign_engine::{ApiKeyKind, Role};
use countersign_testkit::{
    Answer, Setup, TestAgent,
    clarification::{Clarifying, id_of},
    decisions::confirmation,
    on_sqlite, stored_evidence,
};
use serde_json::{Value, json};

/// A gap that the agent may answer, and one that needs a person.
fn own() -> Value {
    json!({ "hosting": {} })
}

fn owed() -> Value {
    json!({ "transfer": { "account": "current" } })
}

fn unclear() -> (u16, String) {
    (409, "clarification_required".into())
}

async fn abandons(stage: &Clarifying, who: &TestAgent, session: &Value) -> Answer {
    stage.post(who, "abandon", &json!({ "session_id": id_of(session) })).await
}

async fn pays(stage: &Clarifying, amount: &str) -> Answer {
    stage.agent.requests_confirmation(&stage.plane, &confirmation("payments.send", json!({ "amount": amount }))).await
}

async fn claims(stage: &Clarifying, decision: &Value, amount: &str) -> Answer {
    let claim = json!({ "tool": "payments.send", "arguments": { "amount": amount } });
    stage.agent.claims(&stage.plane, decision, &claim).await
}

/// The device of a new person with these roles.
async fn device(stage: &Clarifying, name: &str, roles: &[Role], may_answer: bool) -> TestAgent {
    let person = stage.plane.person_in("calendar", name, roles).await;
    let new = json!({ "name": "phone", "may_answer": may_answer });
    let subscriber = person.subscriber_like(&stage.plane, new).await;
    TestAgent { token: subscriber.token, principal: subscriber.token_id }
}

on_sqlite! {
    ///
    async fn nobody_abandons_another_agents_session(kit) {
        let stage = Clarifying::start(kit).await;
        let asked = stage.submits(&own()).await;
        let other = stage.plane.agent_key("alice", &[]).await;
        let admin_key = stage.plane.key_of(ApiKeyKind::Admin, "alice", &[], &[]).await;
        let bob = device(&stage, "bob", &[Role::Approver], true).await;
        assert_eq!(abandons(&stage, &other, &asked).await.status, 404);
        assert_eq!(abandons(&stage, &bob, &asked).await.status, 404);
        assert_eq!(abandons(&stage, &admin_key, &asked).await.status, 403);
        let listens = stage.alice.subscriber_like(&stage.plane, json!({ "name": "ear", "may_answer": false })).await;
        let listens = TestAgent { token: listens.token, principal: listens.token_id };
        assert_eq!(abandons(&stage, &listens, &asked).await.status, 403);
        let body = json!({ "session_id": id_of(&asked) }).to_string();
        let forged = stage.alice.request(http::Method::POST, "/v1/clarification/abandon")
            .header("content-type", "application/json").body(axum::body::Body::from(body)).unwrap();
        assert_eq!(stage.plane.send(forged).await.refusal(), (403, "csrf_rejected".into()));
        assert_eq!(stage.status(&asked).await["state"], "open");
    }

    /// WWA-8-04, WWA-7-01
    async fn an_agent_gives_up_its_draft_and_goes_on_at_once(kit) {
        let stage = Clarifying::start(kit).await;
        let asked = stage.submits(&own()).await;
        assert_eq!(pays(&stage, "1").await.refusal(), unclear());
        let status = abandons(&stage, &stage.agent, &asked).await.expect(200).json();
        assert_eq!(status["state"], "abandoned");
        assert_eq!(abandons(&stage, &stage.agent, &asked).await.expect(200).json(), status, "said again");
        pays(&stage, "1").await.expect(201);
        let body = json!({ "session_id": id_of(&asked) });
        assert_eq!(stage.post(&stage.agent, "confirm-plan", &body).await.refusal(), (409, "conflict".into()));
        assert_eq!(stage.tries_answer(&asked, "gap-001", "eu").await.refusal(), (409, "conflict".into()));
        assert_eq!(stage.submits_in(&asked, &own()).await.refusal(), (409, "conflict".into()));
        let audit = stage.audit(&asked).await;
        let last = audit["record"]["chain"].as_array().unwrap().last().unwrap().clone();
        assert_eq!((&last["event"], &last["abandoned_by"]), (&json!("abandoned"), &json!("own")));
        assert_eq!((&last["unanswered"], &audit["record"]["all_resolved"]), (&json!(["gap-001"]), &json!(false)));
        let entries = stored_evidence(&stage.plane.place).await;
        assert_eq!(entries.iter().filter(|entry| entry.event_type == "clarification_abandoned").count(), 1);
        let anew = stage.submits(&own()).await;
        assert_ne!(anew["session_id"], asked["session_id"], "the same plan is asked about in another session");
    }

    /// R-14, WWA-4-14
    async fn an_agent_cannot_abandon_a_persons_gap_to_run_it_unanswered(kit) {
        let stage = Clarifying::start(kit).await;
        let before = pays(&stage, "1").await.expect(201).json();
        stage.alice.accepts(&stage.plane, &before).await;
        stage.plane.advance_secs(1).await;
        let asked = stage.submits(&owed()).await;
        assert_eq!(claims(&stage, &before, "1").await.refusal(), unclear());
        abandons(&stage, &stage.agent, &asked).await.expect(200);
        let refused = claims(&stage, &before, "1").await;
        assert_eq!(refused.refusal(), unclear(), "approved before the agent gave the question up");
        assert_eq!(refused.json()["clarification"]["gaps"][0]["field"], "transfer.recipient");
        stage.plane.advance_secs(1).await;
        let after = pays(&stage, "2").await.expect(201).json();
        stage.alice.accepts(&stage.plane, &after).await;
        claims(&stage, &after, "2").await.expect(200);
        let reversible = confirmation("notes.archive", json!({ "note": "a" }));
        let reversible = stage.agent.requests_confirmation(&stage.plane, &reversible).await.expect(201).json();
        stage.alice.accepts(&stage.plane, &reversible).await;
        let claim = json!({ "tool": "notes.archive", "arguments": { "note": "a" } });
        stage.agent.claims(&stage.plane, &reversible, &claim).await.expect(200);
        assert_eq!(claims(&stage, &before, "1").await.refusal(), unclear());
        let alice = stage.alice.subscriber(&stage.plane).await;
        let alice = TestAgent { token: alice.token, principal: alice.token_id };
        abandons(&stage, &alice, &asked).await.expect(200);
        claims(&stage, &before, "1").await.expect(200);
        let chain = stage.audit(&asked).await["record"]["chain"].clone();
        let by: Vec<&Value> = chain.as_array().unwrap().iter().map(|entry| &entry["abandoned_by"]).collect();
        assert_eq!(by, [&json!("own"), &json!("person")]);
    }

    ///
    async fn an_abandoned_persons_gap_blocks_no_longer_than_its_session_would_have(kit) {
        let stage = Clarifying::with(kit, Setup::clarifying_with(|document| {
            document.clarification.session_seconds = 120;
        })).await;
        let before = pays(&stage, "1").await.expect(201).json();
        stage.alice.accepts(&stage.plane, &before).await;
        let asked = stage.submits(&owed()).await;
        abandons(&stage, &stage.agent, &asked).await.expect(200);
        stage.plane.advance_secs(119).await;
        assert_eq!(claims(&stage, &before, "1").await.refusal(), unclear());
        stage.plane.advance_secs(1).await;
        claims(&stage, &before, "1").await.expect(200);
    }

    /// AAEP 6.8, R-9
    async fn open_questions_about_its_gaps_are_cancelled_with_an_event_for_their_addressees(kit) {
        let stage = Clarifying::start(kit).await;
        let (_phone, mut heard) = stage.alice.subscribed(&stage.plane).await;
        let asked = stage.submits(&owed()).await;
        let question = stage.answers(&asked, "gap-001", "Dock Ltd").await;
        heard.next_of("awaiting.clarification").await;
        let admin = device(&stage, "carol", &[Role::Admin], true).await;
        abandons(&stage, &admin, &asked).await.expect(200);
        let told = heard.next_of("state.changed").await;
        assert_eq!(told["extensions"]["dev_countersign"]["settled"], "cancelled");
        assert!(told["summary_normal"].as_str().unwrap().contains("abandoned"), "{told}");
        assert_eq!(stage.alice.pending_questions(&stage.plane).await, 0);
        assert_eq!(stage.agent.reads_decision(&stage.plane, &question).await.json()["state"], "cancelled");
        let approved = pays(&stage, "1").await.expect(201).json();
        stage.alice.accepts(&stage.plane, &approved).await;
        claims(&stage, &approved, "1").await.expect(200);
    }
}
