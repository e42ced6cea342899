//! Deadlines: absolute, measured by the store's clock, and never recorded as a rejection (AAEP 6.4, R-21).

use countersign_engine::NotCounted;
use countersign_testkit::{
    Plane, Setup, TestAgent,
    decisions::{DecisionFixture, confirmation},
    on_both_stores,
};
use serde_json::{Value, json};

async fn looked(plane: &Plane, agent: &TestAgent, asked: &Value) -> Value {
    agent.reads_decision(plane, asked).await.expect(200).json()
}

fn tidying(n: u32) -> Value {
    json!({ "tool": "notes.tidy", "arguments": { "n": n } })
}

on_both_stores! {
    /// AAEP-6.4-01
    async fn at_the_deadline_and_not_before_a_question_expires_and_is_never_called_rejected(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let asked = agent.requests_approval(&plane, "payments.send", json!({ "amount": 82 })).await;
        assert_eq!(asked["deadline"], plane.now().plus_secs(300).to_rfc3339());
        plane.advance_secs(299).await;
        assert_eq!(looked(&plane, &agent, &asked).await, asked);
        plane.advance_secs(1).await;
        let expired = looked(&plane, &agent, &asked).await;
        assert_eq!((&expired["state"], &expired["expired_as"]), (&json!("expired"), &json!("reject")));
        for member in ["assurance", "reason", "allowance", "deadline"] {
            assert_eq!(expired.get(member), None, "nobody answered");
        }
        assert!(!expired.to_string().contains("rejected"), "{expired}");
        assert_eq!(expired["settled_at"], plane.now().to_rfc3339());
        assert_eq!(alice.tries(&plane, &asked, true).await, Some(NotCounted::Settled));
        let claim = json!({ "digest": asked["digest"] });
        assert_eq!(agent.claims(&plane, &asked, &claim).await.refusal(), (409, "conflict".into()));
    }

    /// AAEP-6.4-01
    async fn an_answer_after_the_deadline_counts_no_more_than_one_to_a_settled_question(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let asked = agent.requests_approval(&plane, "payments.send", json!({ "amount": 82 })).await;
        plane.advance_without_settling(300).await;
        assert_eq!(looked(&plane, &agent, &asked).await["state"], "pending", "nobody has looked yet");
        assert_eq!(alice.tries(&plane, &asked, true).await, Some(NotCounted::TooLate));
        plane.advance_secs(0).await;
        assert_eq!(looked(&plane, &agent, &asked).await["state"], "expired");
    }

    /// AAEP-6.1-03
    async fn a_default_approval_may_be_claimed_from_the_deadline_on_and_says_that_nobody_answered(kit) {
        let DecisionFixture { plane, agent, .. } = kit.decision_fixture().await;
        let asked = agent.requests_approval(&plane, "notes.tidy", json!({ "n": 1 })).await;
        plane.advance_secs(59).await;
        assert_eq!(agent.claims(&plane, &asked, &tidying(1)).await.refusal(), (409, "conflict".into()));
        plane.advance_secs(1).await;
        let expired = looked(&plane, &agent, &asked).await;
        assert_eq!((&expired["state"], &expired["expired_as"]), (&json!("expired"), &json!("accept")));
        assert_eq!((&expired["allowance"]["state"], expired.get("assurance")), (&json!("open"), None));
        agent.claims(&plane, &asked, &tidying(1)).await.expect(200);
        assert_eq!(agent.claims(&plane, &asked, &tidying(1)).await.refusal(), (409, "conflict".into()));
    }

    /// AAEP-6.4-04
    async fn a_restart_keeps_deadlines_and_questions_due_meanwhile_are_rejected(kit) {
        let (plane, _folder) = kit.lasting_plane(Setup::payments()).await;
        let DecisionFixture { plane, alice, agent } = DecisionFixture::on(plane).await;
        let (mut phone, mut heard) = alice.subscribed(&plane).await;
        let long = agent.requests_approval(&plane, "payments.send", json!({ "amount": 82 })).await;
        let question = heard.next_of("awaiting.confirmation").await;
        drop(heard);
        let meanwhile = agent.requests_approval(&plane, "notes.tidy", json!({ "n": 1 })).await;
        plane.advance_without_settling(61).await;
        let plane = plane.restart().await;
        let afterwards = agent.requests_approval(&plane, "notes.tidy", json!({ "n": 2 })).await;
        plane.advance_secs(0).await;
        let expired = looked(&plane, &agent, &meanwhile).await;
        assert_eq!((&expired["state"], &expired["expired_as"]), (&json!("expired"), &json!("reject")));
        assert_eq!(expired.get("allowance"), None);
        assert_eq!(agent.claims(&plane, &meanwhile, &tidying(1)).await.refusal(), (409, "conflict".into()));
        assert_eq!(looked(&plane, &agent, &long).await, long);
        // The token issued before the restart still answers the question.
        phone.subscribes(&plane).await;
        phone.accepts(&plane, &question).await.expect(204);
        assert_eq!(looked(&plane, &agent, &long).await["state"], "accepted");
        plane.advance_secs(60).await;
        assert_eq!(looked(&plane, &agent, &afterwards).await["expired_as"], "accept", "it was there for this one");
    }

    ///
    async fn a_default_approval_that_was_not_given_on_time_is_a_rejection(kit) {
        let DecisionFixture { plane, agent, .. } = kit.decision_fixture().await;
        let asked = agent.requests_approval(&plane, "notes.tidy", json!({ "n": 1 })).await;
        plane.advance_secs(66).await;
        assert_eq!(looked(&plane, &agent, &asked).await["expired_as"], "reject");
    }

    /// AAEP-6.4-02
    async fn a_question_that_nobody_watches_waits_out_its_deadline_unless_the_project_wants_otherwise(kit) {
        let DecisionFixture { plane, agent, .. } = kit.decision_fixture().await;
        let asked = agent.requests_approval(&plane, "notes.tidy", json!({ "n": 1 })).await;
        plane.advance_secs(59).await;
        assert_eq!(looked(&plane, &agent, &asked).await["state"], "pending");

        let setup = Setup::payments_with(|document| document.decisions.early_reject = true);
        let DecisionFixture { plane, agent, .. } = kit.decision_fixture_with(setup).await;
        for tool in ["notes.tidy", "payments.send"] {
            let early = agent.requests_confirmation(&plane, &confirmation(tool, json!({ "n": 1 }))).await.expect(201).json();
            assert_eq!((&early["state"], &early["expired_as"]), (&json!("expired"), &json!("reject")));
        }
    }
}
