//! Agents that send their own events: legal ones are published, illegal ones refused with the member and the rule.

use countersign_testkit::{aaep::event, decisions::DecisionFixture, on_both_stores};
use serde_json::{Value, json};

fn confirmation() -> Value {
    event(
        "awaiting.confirmation",
        json!({
            "action": "Book the flight", "consequence": "The card is charged", "timeout_seconds": 300,
            "default_decision": "reject", "risk_level": "high", "irreversible": true,
        }),
    )
}

fn to(from: &str, to: &str) -> Value {
    event("state.changed", json!({ "from_state": from, "to_state": to }))
}

on_both_stores! {
    ///
    async fn nobody_but_an_agent_speaks_and_only_in_its_own_session(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let started = event("session.started", json!({}));
        assert_eq!(alice.post(&plane, "/aaep/v1/sessions", &started).await.refusal(), (401, "agent_auth_required".into()));
        let phone = alice.subscriber(&plane).await;
        assert_eq!(phone.post(&plane, "/aaep/v1/sessions", &started).await.status, 401);
        let session = agent.opens_session(&plane).await;
        let other = plane.agent_key("alice", &[]).await;
        assert_eq!(other.publishes(&plane, &session, &to("idle", "thinking")).await.refusal(), (404, "not_found".into()));
        agent.publishes(&plane, &session, &to("idle", "thinking")).await.expect(201);
    }

    /// AAEP 4.5, R-2
    async fn a_sessions_events_are_delivered_unchanged_and_stamped_by_the_hub(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let (_phone, mut heard) = alice.subscribed(&plane).await;
        let mut started = event("session.started", json!({ "request_text": "a flight to Lagos" }));
        started["producer"] = json!({ "agent_id": "somebody-else" });
        started["event_id"] = json!("evt_mine");
        let opened = agent.post(&plane, "/aaep/v1/sessions", &started).await.expect(201).json();
        let session = opened["session_id"].as_str().unwrap();
        assert_eq!(opened["events"], format!("/aaep/v1/sessions/{session}/events"));
        let first = heard.next_of("session.started").await;
        assert_eq!(first["session_id"], session);
        assert_eq!(first["producer"]["agent_id"], "the nightly job");
        assert!(first["event_id"] != "evt_mine");
        let said = agent.publishes(&plane, session, &to("idle", "thinking")).await.expect(201).json();
        assert_eq!(said["sequence_number"], 1);
        assert_eq!(heard.next_of("state.changed").await["event_id"], said["event_id"]);
        agent.publishes(&plane, session, &event("session.completed", json!({}))).await.expect(201);
        heard.next_of("session.completed").await;
        let after = agent.publishes(&plane, session, &to("thinking", "idle")).await;
        assert_eq!(after.refusal(), (409, "conflict".into()));
    }

    /// AAEP-6.1-01
    async fn an_event_that_asks_is_answered_with_the_decision(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let (phone, mut heard) = alice.subscribed(&plane).await;
        let session = agent.opens_session(&plane).await;
        let asked = agent.publishes(&plane, &session, &confirmation()).await.expect(201).json();
        assert_eq!((&asked["state"], &asked["session_id"]), (&json!("pending"), &json!(session)));
        assert_eq!(agent.publishes(&plane, &session, &confirmation()).await.expect(200).json()["decision_id"], asked["decision_id"]);
        // The session enters its pending state before the question is published.
        assert_eq!(heard.next_of("session.started").await["session_id"], session);
        let waits = heard.event().await;
        assert_eq!((&waits["to_state"], &waits["session_id"]), (&json!("awaiting_input"), &json!(session)));
        let question = heard.event().await;
        assert_eq!((&question["type"], &question["session_id"]), (&json!("aaep:agent.awaiting.confirmation"), &json!(session)));
        phone.accepts(&plane, &question).await.expect(204);
        assert_eq!(agent.reads_decision(&plane, &asked).await.json()["state"], "accepted");
    }

    /// AAEP 3.9
    async fn an_illegal_event_is_refused_and_the_member_is_named(kit) {
        let DecisionFixture { plane, agent, .. } = kit.decision_fixture().await;
        let session = agent.opens_session(&plane).await;
        for (member, wrong) in [
            ("summary_normal", event("tool.invoked", json!({ "tool": "x", "summary_normal": "" }))),
            ("default_decision", { let mut event = confirmation(); event["default_decision"] = json!("accept"); event }),
            ("urgency", { let mut event = confirmation(); event["urgency"] = json!("normal"); event }),
            ("mood", event("state.changed", json!({ "from_state": "idle", "to_state": "thinking", "mood": "good" }))),
            ("type", event("dream.started", json!({}))),
            ("event", json!("session.completed")),
        ] {
            let refused = agent.publishes(&plane, &session, &wrong).await;
            assert_eq!(refused.refusal(), (400, "invalid_request".into()), "{member}");
            let told = refused.json()["error_description"].as_str().unwrap().to_owned();
            assert!(told.contains(member), "{member}: {told}");
        }
        assert_eq!(agent.publishes(&plane, &session, &to("thinking", "idle")).await.status, 409);
        let nothing = agent.post(&plane, "/aaep/v1/sessions", &to("idle", "thinking")).await;
        assert_eq!(nothing.refusal(), (400, "invalid_request".into()));
        agent.publishes(&plane, &session, &to("idle", "thinking")).await.expect(201);
    }

    /// AAEP 4.5
    async fn a_list_of_events_is_taken_in_order_up_to_the_first_refusal(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let (_phone, mut heard) = alice.subscribed(&plane).await;
        let session = agent.opens_session(&plane).await;
        let list = json!([to("idle", "thinking"), to("thinking", "deciding")]);
        let said = agent.publishes(&plane, &session, &list).await.expect(201).json();
        let numbers: Vec<_> = said["results"].as_array().unwrap().iter().map(|said| said["sequence_number"].clone()).collect();
        assert_eq!(numbers, [1, 2]);
        let list = json!([to("deciding", "thinking"), to("idle", "thinking"), to("thinking", "idle")]);
        let stopped = agent.publishes(&plane, &session, &list).await;
        assert_eq!(stopped.refusal(), (409, "conflict".into()));
        assert!(stopped.text().contains("events[1]"), "{}", stopped.text());
        let mut states = Vec::new();
        for _ in 0..3 {
            states.push(heard.next_of("state.changed").await["to_state"].clone());
        }
        assert_eq!(states, ["thinking", "deciding", "thinking"]);
        for list in [json!([]), Value::Array(vec![to("thinking", "thinking"); 101])] {
            assert_eq!(agent.publishes(&plane, &session, &list).await.refusal(), (400, "invalid_request".into()));
        }
    }
}
