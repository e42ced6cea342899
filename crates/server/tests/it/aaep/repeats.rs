//! An event that is sent again after its response was lost gets the same response and is delivered once.

use countersign_testkit::{Plane, Setup, TestAgent, aaep::event, decisions::DecisionFixture, on_both_stores};
use serde_json::{Value, json};

/// An event under an id of the agent's own.
fn named(id: &str, mut event: Value) -> Value {
    event["event_id"] = json!(id);
    event
}

fn to(from: &str, to: &str) -> Value {
    event("state.changed", json!({ "from_state": from, "to_state": to }))
}

fn confirmation() -> Value {
    event(
        "awaiting.confirmation",
        json!({ "action": "Book the flight", "consequence": "The card is charged", "timeout_seconds": 300,
            "default_decision": "reject", "risk_level": "high", "irreversible": true }),
    )
}

async fn says(plane: &Plane, agent: &TestAgent, session: &str, event: &Value) -> Value {
    agent.publishes(plane, session, event).await.expect(201).json()
}

on_both_stores! {
    /// AAEP 3.2.3
    async fn the_same_id_with_other_content_is_refused_and_delivered_to_nobody(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let (_phone, mut heard) = alice.subscribed(&plane).await;
        let session = agent.opens_session(&plane).await;
        says(&plane, &agent, &session, &named("evt_1", to("idle", "thinking"))).await;
        let other = agent.publishes(&plane, &session, &named("evt_1", to("thinking", "deciding"))).await;
        assert_eq!(other.refusal(), (409, "conflict".into()));
        assert!(other.text().contains("event_id"), "{}", other.text());
        says(&plane, &agent, &session, &named("evt_2", to("thinking", "writing_output"))).await;
        let states = [heard.next_of("state.changed").await, heard.next_of("state.changed").await];
        assert_eq!(states.map(|event| event["to_state"].clone()), ["thinking", "writing_output"]);
    }

    /// AAEP 3.2.3, AAEP 8.2.4
    async fn an_event_that_is_sent_again_is_answered_alike_and_delivered_once(kit) {
        let (plane, _folder) = kit.lasting_plane(Setup::payments()).await;
        let DecisionFixture { plane, alice, agent } = DecisionFixture::on(plane).await;
        let (_phone, mut heard) = alice.subscribed(&plane).await;
        let started = named("evt_0", event("session.started", json!({})));
        let opened = agent.post(&plane, "/aaep/v1/sessions", &started).await.expect(201).json();
        assert_eq!(agent.post(&plane, "/aaep/v1/sessions", &started).await.expect(201).json(), opened);
        let session = opened["session_id"].as_str().unwrap();
        let progress = named("evt_1", event("progress.updated", json!({ "progress": { "percent": 10 } })));
        let first = says(&plane, &agent, session, &progress).await;
        let mut again = progress.clone();
        again["timestamp"] = json!("2026-11-15T12:00:09Z");
        assert_eq!(says(&plane, &agent, session, &again).await, first, "what the hub stamps may be stamped anew");
        assert_eq!(heard.next_of("session.started").await["session_id"], session);
        assert_eq!(heard.event().await["event_id"], first["event_id"]);
        drop(heard);
        let plane = plane.restart().await;
        assert_eq!(says(&plane, &agent, session, &progress).await, first);
        let list = json!([progress, named("evt_2", to("idle", "thinking"))]);
        let results = says(&plane, &agent, session, &list).await["results"].clone();
        assert_eq!((&results[0], &results[1]["sequence_number"]), (&first, &json!(2)));
        let over = named("evt_3", event("session.completed", json!({})));
        let ended = says(&plane, &agent, session, &over).await;
        assert_eq!(says(&plane, &agent, session, &over).await, ended, "also after the session is over");
    }

    /// AAEP-6.1-09
    async fn a_question_that_is_sent_again_is_the_original_in_any_state(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let (phone, mut heard) = alice.subscribed(&plane).await;
        let session = agent.opens_session(&plane).await;
        let asked = says(&plane, &agent, &session, &named("evt_q", confirmation())).await;
        let again = agent.publishes(&plane, &session, &named("evt_q", confirmation())).await.expect(200).json();
        assert_eq!(again["decision_id"], asked["decision_id"]);
        let question = heard.next_of("awaiting.confirmation").await;
        phone.rejects(&plane, &question).await.expect(204);
        assert_eq!(heard.event().await["from_state"], "awaiting_input", "it was told once");
        let again = agent.publishes(&plane, &session, &named("evt_q", confirmation())).await.expect(200).json();
        assert_eq!((&again["decision_id"], &again["state"]), (&asked["decision_id"], &json!("rejected")));
        let anew = says(&plane, &agent, &session, &named("evt_r", confirmation())).await;
        assert_ne!(anew["decision_id"], asked["decision_id"], "another id is another question");
    }

    ///
    async fn an_id_counts_for_one_session_of_one_agent(kit) {
        let DecisionFixture { plane, agent, .. } = kit.decision_fixture().await;
        let (first, second) = (agent.opens_session(&plane).await, agent.opens_session(&plane).await);
        let thinks = named("evt_1", to("idle", "thinking"));
        let said = says(&plane, &agent, &first, &thinks).await;
        assert_ne!(says(&plane, &agent, &second, &thinks).await["event_id"], said["event_id"]);
        let other = plane.agent_key("alice", &[]).await;
        assert_eq!(other.publishes(&plane, &first, &thinks).await.refusal(), (404, "not_found".into()));
    }

    /// AAEP 8.2.4
    async fn of_many_repetitions_at_once_one_is_delivered(kit) {
        let DecisionFixture { plane, agent, .. } = kit.decision_fixture().await;
        let session = agent.opens_session(&plane).await;
        let progress = named("evt_1", event("progress.updated", json!({ "progress": { "percent": 10 } })));
        let sent = (0..8).map(|_| says(&plane, &agent, &session, &progress));
        let answers = futures_util::future::join_all(sent).await;
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
        assert_eq!(says(&plane, &agent, &session, &to("idle", "thinking")).await["sequence_number"], 2);
    }
}
