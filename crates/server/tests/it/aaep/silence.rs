//! Sessions of an agent that is gone: the hub ends them with the one terminal event that every session has.

use countersign_testkit::{
    Plane, Setup, TestAgent, TestPerson,
    aaep::{ReceivedEvents, event},
    decisions::DecisionFixture,
    on_both_stores,
};
use serde_json::{Value, json};

/// Half an hour, to differ from the default timeout.
fn patient() -> Setup {
    Setup::payments_with(|document| document.decisions.session_idle_seconds = 1800)
}

async fn is_open(plane: &Plane, agent: &TestAgent, session: &str) -> bool {
    let said = event("progress.updated", json!({ "progress": { "percent": 10 } }));
    agent.publishes(plane, session, &said).await.status == 201
}

async fn ends(heard: &mut ReceivedEvents) -> Value {
    heard.next_of("session.cancelled").await
}

on_both_stores! {
    /// AAEP 4.5.1
    async fn a_session_goes_on_while_events_arrive(kit) {
        let DecisionFixture { plane, agent, .. } = kit.decision_fixture_with(patient()).await;
        let session = agent.opens_session(&plane).await;
        for _ in 0..3 {
            plane.advance_secs(1799).await;
            assert!(is_open(&plane, &agent, &session).await);
        }
        plane.advance_secs(1800).await;
        assert!(!is_open(&plane, &agent, &session).await);
    }

    /// AAEP 4.5.1, AAEP 4.5.2, R-21
    async fn a_silent_agents_session_is_cancelled_by_timeout_after_its_tools_are_completed(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture_with(patient()).await;
        let (_phone, mut heard) = alice.subscribed(&plane).await;
        let session = agent.opens_session(&plane).await;
        let invoked = event("tool.invoked", json!({ "tool": "notes.read", "tool_call_id": "call_1" }));
        agent.publishes(&plane, &session, &invoked).await.expect(201);
        plane.advance_secs(1800).await;
        let completed = heard.next_of("tool.completed").await;
        assert_eq!((&completed["tool_call_id"], &completed["status"]), (&json!("call_1"), &json!("timeout")));
        let over = ends(&mut heard).await;
        assert_eq!((&over["session_id"], &over["cancelled_by"]), (&json!(session), &json!("timeout")));
        assert_eq!(over["cancellation_reason"], "agent_silent");
        let late = agent.publishes(&plane, &session, &event("session.completed", json!({}))).await;
        assert_eq!(late.refusal(), (409, "conflict".into()));
        plane.advance_secs(7200).await;
        let next = agent.opens_session(&plane).await;
        let begun = heard.event().await;
        assert_eq!((&begun["type"], &begun["session_id"]), (&json!("aaep:agent.session.started"), &json!(next)), "it ended once");
    }

    ///
    async fn a_session_that_fell_silent_while_nothing_ran_is_ended_after_the_start(kit) {
        let (plane, _folder) = kit.lasting_plane(patient()).await;
        let DecisionFixture { plane, agent, .. } = DecisionFixture::on(plane).await;
        let session = agent.opens_session(&plane).await;
        plane.advance_without_settling(1800).await;
        let plane = plane.restart().await;
        let (_phone, mut heard) = TestPerson::sign_in(&plane, "alice").await.subscribed(&plane).await;
        plane.engine.decisions().settle_due().await.unwrap();
        assert_eq!(ends(&mut heard).await["session_id"], session);
    }

    /// R-21, AAEP-6.4-01
    async fn a_question_keeps_its_deadline_and_silence_counts_from_its_end(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture_with(patient()).await;
        let (_phone, mut heard) = alice.subscribed(&plane).await;
        let session = agent.opens_session(&plane).await;
        let asks = event("awaiting.confirmation", json!({ "action": "Book it", "consequence": "It costs",
            "timeout_seconds": 3600, "default_decision": "reject", "risk_level": "high", "irreversible": true }));
        let asked = agent.publishes(&plane, &session, &asks).await.expect(201).json();
        plane.advance_secs(3599).await;
        assert_eq!(agent.reads_decision(&plane, &asked).await.json()["state"], "pending");
        plane.advance_secs(1).await;
        assert_eq!(agent.reads_decision(&plane, &asked).await.json()["state"], "expired");
        plane.advance_secs(1799).await;
        plane.advance_secs(1).await;
        assert_eq!(ends(&mut heard).await["cancellation_reason"], "agent_silent");
    }

    ///
    async fn a_revoked_keys_session_ends_at_once(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let (_phone, mut heard) = alice.subscribed(&plane).await;
        let session = agent.opens_session(&plane).await;
        plane.revoke_key(&agent).await;
        let over = ends(&mut heard).await;
        assert_eq!((&over["session_id"], &over["cancelled_by"]), (&json!(session), &json!("system")));
    }
}
