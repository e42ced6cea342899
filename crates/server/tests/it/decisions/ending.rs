//! Ends of a question before its deadline: withdrawal by its requester, or the end of the requester (AAEP 6.8, R-5).

use countersign_engine::NotCounted;
use countersign_testkit::{
    AgentFixture, Plane, Setup, TestAgent, TestPerson,
    decisions::{DecisionFixture, confirmation},
    on_sqlite,
};
use serde_json::{Value, json};

const PAY: &str = "payments.send";

/// One pending question, and one approval that is not claimed.
async fn open_and_accepted(plane: &Plane, alice: &TestPerson, agent: &TestAgent) -> [Value; 2] {
    let open = agent.requests_approval(plane, PAY, json!({ "n": 1 })).await;
    let accepted = agent.requests_approval(plane, PAY, json!({ "n": 2 })).await;
    alice.accepts(plane, &accepted).await;
    [open, accepted]
}

on_sqlite! {
    /// AAEP-6.8-01
    async fn a_question_is_withdrawn_by_its_asker_and_answered_by_nobody_after_that(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let asked = agent.requests_approval(&plane, "notes.tidy", json!({ "n": 1 })).await;
        let other = plane.agent_key("alice", &["notes.tidy"]).await;
        assert_eq!(other.withdraws(&plane, &asked, &json!({})).await.refusal(), (404, "not_found".into()));
        let told = agent.withdraws(&plane, &asked, &json!({ "reason": "done by hand" })).await.expect(200).json();
        assert_eq!((&told["state"], &told["cancelled_for"]), (&json!("cancelled"), &json!("withdrawn")));
        assert_eq!(alice.pending_questions(&plane).await, 0);
        assert_eq!(alice.tries(&plane, &asked, true).await, Some(NotCounted::Settled));
        assert_eq!(agent.withdraws(&plane, &asked, &json!({})).await.refusal(), (409, "conflict".into()));
        plane.advance_secs(60).await;
        assert_eq!(agent.reads_decision(&plane, &asked).await.expect(200).json(), told, "no default is applied later");
        let claim = json!({ "tool": "notes.tidy", "arguments": { "n": 1 } });
        assert_eq!(agent.claims(&plane, &asked, &claim).await.refusal(), (409, "conflict".into()));
        agent.requests_confirmation(&plane, &confirmation("notes.tidy", json!({ "n": 1 }))).await.expect(201);
    }

    /// AAEP-6.8-01
    async fn a_settled_question_cannot_be_withdrawn(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let [_, accepted] = open_and_accepted(&plane, &alice, &agent).await;
        let before = agent.reads_decision(&plane, &accepted).await.expect(200).json();
        assert_eq!(agent.withdraws(&plane, &accepted, &json!({})).await.refusal(), (409, "conflict".into()));
        assert_eq!(agent.reads_decision(&plane, &accepted).await.expect(200).json(), before);
    }

    ///
    async fn with_its_delegation_an_agents_questions_and_unclaimed_approvals_end(kit) {
        let AgentFixture { plane, alice, connected, agent } = kit.fixture_with(Setup::payments(), &["calendar.read"]).await;
        let agent = agent.as_test_agent();
        let [open, accepted] = open_and_accepted(&plane, &alice, &agent).await;
        let revoke = json!({ "delegation_id": connected.delegation_id, "reason": "user_requested" });
        alice.post(&plane, "/agent/revoke", &revoke).await.expect(200);
        assert_eq!(alice.pending_questions(&plane).await, 0);
        assert_eq!(alice.tries(&plane, &open, true).await, Some(NotCounted::Settled));
        let claim = json!({ "tool": PAY, "arguments": { "n": 2 } });
        assert_eq!(agent.claims(&plane, &accepted, &claim).await.refusal(), (401, "delegation_revoked".into()));
        let more = agent.requests_confirmation(&plane, &confirmation(PAY, json!({ "n": 3 }))).await;
        assert_eq!(more.refusal(), (401, "delegation_revoked".into()));
        // Connected anew it is another principal, and nothing is restored.
        let connected = plane.connect(&alice, plane.acme(), &["calendar.read"]).await;
        let again = plane.register(plane.acme(), &connected).await.as_test_agent();
        for asked in [&open, &accepted] {
            assert_eq!(again.reads_decision(&plane, asked).await.refusal(), (404, "not_found".into()));
            assert_eq!(again.claims(&plane, asked, &claim).await.refusal(), (404, "not_found".into()));
        }
    }

    ///
    async fn with_its_session_an_agents_questions_and_unclaimed_approvals_end(kit) {
        let AgentFixture { plane, alice, connected, agent } = kit.fixture_with(Setup::payments(), &["calendar.read"]).await;
        let asking = agent.as_test_agent();
        let [open, accepted] = open_and_accepted(&plane, &alice, &asking).await;
        let jwt = plane.acme().jwt(plane.service(), plane.now());
        let cancel = json!({ "session_id": agent.session_id, "operator_jwt": jwt, "reason": "user_cancelled" });
        plane.post("/agent/cancel", &cancel).await.expect(200);
        assert_eq!(asking.reads_decision(&plane, &open).await.refusal(), (401, "access_token_invalid".into()));
        let again = plane.register(plane.acme(), &connected).await.as_test_agent();
        let told = again.reads_decision(&plane, &open).await.expect(200).json();
        assert_eq!((&told["state"], &told["cancelled_for"]), (&json!("cancelled"), &json!("session_over")));
        let claim = json!({ "tool": PAY, "arguments": { "n": 2 } });
        assert_eq!(again.claims(&plane, &accepted, &claim).await.refusal(), (409, "conflict".into()));
        let told = again.reads_decision(&plane, &accepted).await.expect(200).json();
        assert_eq!((&told["state"], &told["allowance"]["state"]), (&json!("accepted"), &json!("cancelled")));
    }

    ///
    async fn with_its_key_an_agents_questions_and_unclaimed_approvals_end(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let other = plane.agent_key("alice", &[PAY]).await;
        let kept = other.requests_approval(&plane, PAY, json!({ "n": 1 })).await;
        let [open, accepted] = open_and_accepted(&plane, &alice, &agent).await;
        plane.revoke_key(&agent).await;
        assert_eq!(alice.pending_questions(&plane).await, 1, "the other agent's stays");
        assert_eq!(alice.tries(&plane, &open, true).await, Some(NotCounted::Settled));
        let claim = json!({ "tool": PAY, "arguments": { "n": 2 } });
        assert_eq!(agent.claims(&plane, &accepted, &claim).await.refusal(), (403, "not_authorized".into()));
        assert_eq!(other.reads_decision(&plane, &kept).await.expect(200).json(), kept);
    }

    ///
    async fn questions_that_end_with_their_agent_make_room_for_other_questions(kit) {
        let setup = Setup::payments_with(|document| document.decisions.max_open_per_person = 1);
        let DecisionFixture { plane, agent, .. } = kit.decision_fixture_with(setup).await;
        let other = plane.agent_key("alice", &[PAY]).await;
        agent.requests_approval(&plane, PAY, json!({ "n": 1 })).await;
        assert_eq!(other.requests_confirmation(&plane, &confirmation(PAY, json!({}))).await.status, 429);
        plane.revoke_key(&agent).await;
        other.requests_confirmation(&plane, &confirmation(PAY, json!({}))).await.expect(201);
    }
}
