//! Work that a question blocks, and work that continues beside it (AAEP 6.1).

use super::Waiting;
use countersign_testkit::{
    aaep::{ReceivedEvents, event},
    decisions::{DecisionFixture, confirmation},
    on_sqlite,
};
use serde_json::{Value, json};

/// The next event that is no countdown: it must settle a question.
async fn settlement(heard: &mut ReceivedEvents) -> Value {
    loop {
        let next = heard.event().await;
        if next["type"] != "aaep:agent.progress.updated" {
            let said = (&next["type"], &next["from_state"]);
            assert_eq!(said, (&json!("aaep:agent.state.changed"), &json!("awaiting_input")), "{next}");
            return next;
        }
    }
}

on_sqlite! {
    /// AAEP-6.1-05
    async fn after_a_rejection_and_after_silence_the_next_event_says_that_nothing_runs(kit) {
        for answered in [true, false] {
            let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
            let (phone, mut heard) = alice.subscribed(&plane).await;
            let decision = agent.requests_approval(&plane, "payments.send", json!({})).await;
            let question = heard.next_of("awaiting.confirmation").await;
            let told = match answered {
                true => {
                    phone.rejects(&plane, &question).await.expect(204);
                    "rejected"
                }
                false => {
                    plane.advance_secs(question["timeout_seconds"].as_i64().unwrap()).await;
                    "Time ran out"
                }
            };
            let changed = settlement(&mut heard).await;
            assert_eq!(changed["to_state"], "thinking");
            assert_eq!(changed["extensions"]["dev_countersign"]["decision_id"], decision["decision_id"]);
            let summary = changed["summary_normal"].as_str().unwrap();
            assert!(summary.contains(told), "{summary}");
        }
    }

    /// AAEP-6.1-06
    async fn after_a_rejection_the_agent_may_explain_itself_and_need_not(kit) {
        for explains in [true, false] {
            let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
            let (phone, mut heard) = alice.subscribed(&plane).await;
            let session = agent.opens_session(&plane).await;
            let mut body = confirmation("payments.send", json!({}));
            body["session_id"] = json!(session);
            agent.requests_confirmation(&plane, &body).await.expect(201);
            phone.rejects(&plane, &heard.next_of("awaiting.confirmation").await).await.expect(204);
            assert_eq!(settlement(&mut heard).await["to_state"], "thinking");
            if explains {
                let mut words =
                    event("output.streaming", json!({ "chunk": "Then I leave it.", "position": 0, "complete": true }));
                words.as_object_mut().unwrap().remove("summary_normal");
                agent.publishes(&plane, &session, &words).await.expect(201);
                assert_eq!(heard.event().await["chunk"], "Then I leave it.");
            }
            agent.publishes(&plane, &session, &event("session.completed", json!({}))).await.expect(201);
            assert_eq!(heard.event().await["type"], "aaep:agent.session.completed");
        }
    }

    /// AAEP-6.1-07, AAEP-6.1-08
    async fn other_work_goes_on_while_a_question_waits_and_the_asked_action_is_announced_by_nobody(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let (_phone, mut heard) = alice.subscribed(&plane).await;
        let session = agent.opens_session(&plane).await;
        let mut body = confirmation("payments.send", json!({}));
        body["session_id"] = json!(session);
        let decision = agent.requests_confirmation(&plane, &body).await.expect(201).json();
        heard.next_of("awaiting.confirmation").await;
        let invoked = event("tool.invoked", json!({ "tool": "web_search", "tool_call_id": "call_1" }));
        agent.publishes(&plane, &session, &invoked).await.expect(201);
        let done = event("tool.completed", json!({ "tool": "web_search", "tool_call_id": "call_1", "status": "success" }));
        agent.publishes(&plane, &session, &done).await.expect(201);
        assert_eq!(heard.event().await["tool"], "web_search");
        assert_eq!(heard.event().await["tool"], "web_search");
        // The action itself must not be reported as running.
        let early = event("tool.invoked", json!({ "tool": "payments.send", "irreversible": true }));
        assert_eq!(agent.publishes(&plane, &session, &early).await.status, 409);
        assert_eq!(agent.reads_decision(&plane, &decision).await.json()["state"], "pending");
        // Neither must a reversible one while its own question is pending.
        let tidies = event("tool.invoked", json!({ "tool": "notes.archive", "tool_call_id": "call_2" }));
        let mut body = confirmation("notes.archive", json!({}));
        body["session_id"] = json!(session);
        let archiving = agent.requests_confirmation(&plane, &body).await.expect(201).json();
        assert_eq!(agent.publishes(&plane, &session, &tidies).await.refusal(), (409, "conflict".into()));
        agent.withdraws(&plane, &archiving, &json!({})).await.expect(200);
        agent.publishes(&plane, &session, &tidies).await.expect(201);
    }

    /// AAEP-6.1-10, AAEP-6.1-11
    async fn dependent_work_waits_for_an_answer_and_other_work_goes_on(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let (phone, mut heard) = alice.subscribed(&plane).await;
        let decision = agent.requests_clarification(&plane, &json!({ "question": "Which account?" })).await.expect(201).json();
        let question = heard.next_of("awaiting.clarification").await;
        let mut booked = Vec::new();
        let document = agent.reads_decision(&plane, &decision).await.json();
        assert_eq!(document["state"], "pending");
        assert!(document.get("response").is_none(), "there is nothing to go on with yet");
        // A clarification is no approval: it allows no claim, before or after its answer.
        let claim = json!({ "digest": decision["digest"] });
        assert_eq!(agent.claims(&plane, &decision, &claim).await.status, 409);
        // Independent work has its own question and continues.
        let other = agent.requests_approval(&plane, "mail.send", json!({})).await;
        phone.accepts(&plane, &heard.next_of("awaiting.confirmation").await).await.expect(204);
        agent.claims(&plane, &other, &json!({ "tool": "mail.send", "arguments": {} })).await.expect(200);
        phone.replies(&plane, &phone.response(&plane, &question, json!("acct-3344"))).await.expect(204);
        let answered = agent.waits(&plane, &decision, 5).await.expect(200).json();
        booked.push(answered["response"].clone());
        assert_eq!((answered["state"].as_str(), booked), (Some("answered"), vec![json!("acct-3344")]));
        assert_eq!(agent.claims(&plane, &decision, &claim).await.status, 409);
    }

    /// AAEP-SCHEMA-01
    async fn nothing_irreversible_is_announced_without_its_question_and_its_approval_before_it(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let (phone, mut heard) = alice.subscribed(&plane).await;
        let mut asked = Vec::new();
        for n in 0..3 {
            asked.push(agent.requests_approval(&plane, "payments.send", json!({ "n": n })).await);
        }
        let mut log = Vec::new();
        while log.iter().filter(|event: &&Value| event["type"] == "aaep:agent.awaiting.confirmation").count() < 3 {
            log.push(heard.event().await);
        }
        let questions: Vec<Value> =
            log.iter().filter(|event| event["type"] == "aaep:agent.awaiting.confirmation").cloned().collect();
        phone.rejects(&plane, &questions[1]).await.expect(204);
        for n in [0, 2] {
            phone.accepts(&plane, &questions[n]).await.expect(204);
        }
        for (n, decision) in asked.iter().enumerate() {
            let claim = json!({ "tool": "payments.send", "arguments": { "n": n } });
            let status = agent.claims(&plane, decision, &claim).await.status;
            assert_eq!(status, if n == 1 { 409 } else { 200 });
        }
        while log.iter().filter(|event| event["type"] == "aaep:agent.tool.invoked").count() < 2 {
            log.push(heard.event().await);
        }
        for (place, invoked) in log.iter().enumerate().filter(|(_, event)| event["type"] == "aaep:agent.tool.invoked") {
            assert_eq!(invoked["irreversible"], true);
            let decision = &invoked["extensions"]["dev_countersign"]["decision_id"];
            let about = |event: &Value| event["extensions"]["dev_countersign"]["decision_id"] == *decision;
            let before = &log[..place];
            let question = before.iter().position(|e| about(e) && e["type"] == "aaep:agent.awaiting.confirmation");
            let yes = before.iter().position(|e| about(e) && e["to_state"] == "calling_tool");
            assert!(question.is_some() && question < yes, "{decision} ran without its question and yes before it");
        }
    }

    /// AAEP-6.4-03, AAEP-6.9-08
    async fn a_subscriber_that_leaves_ends_the_stream_and_settles_nothing(kit) {
        let waiting = Waiting::on(kit).await;
        let Waiting { plane, alice, agent, phone, mut heard, decision, question } = waiting;
        let close = json!({ "type": "subscription.close", "subscription_id": phone.subscription_id });
        phone.replies(&plane, &close).await.expect(204);
        agent.requests_approval(&plane, "mail.send", json!({})).await;
        let rest = heard.rest().await;
        assert!(rest.iter().all(|line| line.id.is_none()), "no event after the close: {rest:?}");
        plane.advance_secs(61).await;
        assert_eq!(agent.reads_decision(&plane, &decision).await.json()["state"], "pending");
        let claim = json!({ "tool": "payments.send", "arguments": { "amount": "82000" } });
        assert_eq!(agent.claims(&plane, &decision, &claim).await.status, 409, "closing is no yes");
        // Another subscriber can answer it: a new one receives it on joining.
        let (tablet, mut at_tablet) = alice.subscribed(&plane).await;
        // Both were raised at the same moment, so their order is not defined.
        let two = [at_tablet.next_of("awaiting.confirmation").await, at_tablet.next_of("awaiting.confirmation").await];
        let again = two.into_iter().find(|asked| asked["reply_token"] == question["reply_token"]).expect("the question");
        drop(at_tablet);
        plane.advance_secs(61).await;
        assert_eq!(agent.reads_decision(&plane, &decision).await.json()["state"], "pending", "a lost connection settles nothing");
        tablet.accepts(&plane, &again).await.expect(204);
        assert_eq!(agent.reads_decision(&plane, &decision).await.json()["state"], "accepted");
    }
}
