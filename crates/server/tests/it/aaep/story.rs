//! The whole flow, once: an agent asks, every subscriber receives it, one answers, and the approved action runs.

use countersign_testkit::{aaep::ReceivedEvents, decisions::DecisionFixture, on_both_stores};
use serde_json::{Value, json};

/// The types of the next events, by their names below `aaep:agent.`, each validated.
async fn types(heard: &mut ReceivedEvents, count: usize) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for _ in 0..count {
        let event = heard.event().await;
        let name = event["type"].as_str().unwrap().strip_prefix("aaep:agent.").unwrap().to_owned();
        found.push((name, event));
    }
    found
}

fn names(events: &[(String, Value)]) -> Vec<&str> {
    events.iter().map(|(name, _)| name.as_str()).collect()
}

on_both_stores! {
    /// AAEP-6.1-01, AAEP-6.1-02, AAEP-6.7.2-01, AAEP-6.7.2-02
    async fn an_agents_question_reaches_two_subscribers_and_the_answer_of_one_reaches_both(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let (phone, mut at_phone) = alice.subscribed(&plane).await;
        let (_speaker, mut at_speaker) = alice.subscribed(&plane).await;

        let arguments = json!({ "amount": "82000", "to": "ACME" });
        let decision = agent.requests_approval(&plane, "payments.send", arguments.clone()).await;
        let asked = types(&mut at_phone, 3).await;
        assert_eq!(names(&asked), ["session.started", "state.changed", "awaiting.confirmation"]);
        assert_eq!(asked[1].1["to_state"], "awaiting_input");
        assert_eq!(types(&mut at_speaker, 3).await, asked, "both hear the same");
        let early = agent.claims(&plane, &decision, &json!({ "tool": "payments.send", "arguments": arguments })).await;
        assert_eq!(early.status, 409, "{}", early.text());

        let question = &asked[2].1;
        assert_eq!(question["urgency"], "critical");
        let told = phone.accepts(&plane, question).await;
        assert_eq!((told.status, told.body.len()), (204, 0));
        let settled = types(&mut at_phone, 1).await;
        assert_eq!((&settled[0].1["from_state"], &settled[0].1["to_state"]), (&json!("awaiting_input"), &json!("calling_tool")));
        assert_eq!(types(&mut at_speaker, 1).await, settled);
        let told = settled[0].1["summary_normal"].as_str().unwrap();
        assert!(told.contains("approved"), "{told}");

        assert_eq!(agent.waits(&plane, &decision, 5).await.expect(200).json()["state"], "accepted");
        agent.claims(&plane, &decision, &json!({ "tool": "payments.send", "arguments": arguments })).await.expect(200);
        let invoked = types(&mut at_phone, 1).await;
        assert_eq!(names(&invoked), ["tool.invoked"]);
        assert_eq!((&invoked[0].1["tool"], &invoked[0].1["irreversible"]), (&json!("payments.send"), &json!(true)));
        agent.reports(&plane, &decision, "committed").await.expect(200);
        let completed = types(&mut at_phone, 1).await;
        assert_eq!(names(&completed), ["tool.completed"]);
        assert_eq!((&completed[0].1["status"], &completed[0].1["tool_call_id"]),
            (&json!("success"), &invoked[0].1["tool_call_id"]));
        assert_eq!(types(&mut at_speaker, 2).await, [invoked, completed].concat());
    }

    /// AAEP-6.7.2-01, AAEP-6.7.2-03
    async fn a_rejection_is_delivered_to_all_and_nothing_runs(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let (phone, mut at_phone) = alice.subscribed(&plane).await;
        let (_speaker, mut at_speaker) = alice.subscribed(&plane).await;
        let decision = agent.requests_approval(&plane, "payments.send", json!({})).await;
        let question = at_phone.next_of("awaiting.confirmation").await;
        at_speaker.next_of("awaiting.confirmation").await;
        phone.rejects(&plane, &question).await.expect(204);
        for heard in [&mut at_phone, &mut at_speaker] {
            let changed = heard.next_of("state.changed").await;
            assert_eq!((&changed["from_state"], &changed["to_state"]), (&json!("awaiting_input"), &json!("thinking")));
            assert!(changed["summary_normal"].as_str().unwrap().contains("rejected"), "{changed}");
        }
        let claim = agent.claims(&plane, &decision, &json!({ "tool": "payments.send", "arguments": {} })).await;
        assert_eq!(claim.status, 409, "{}", claim.text());
    }
}
