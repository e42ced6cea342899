//! The content of an answer that the agent receives: the reason of a rejection, a proposal, the response to its question.

use countersign_testkit::{decisions::DecisionFixture, on_sqlite};
use serde_json::json;

on_sqlite! {
    /// AAEP-6.3.2-02
    async fn the_reason_of_a_rejection_reaches_the_agent_word_for_word(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let reason = "Zahl erst am 1. – „nicht vorher“! 😀";
        let asked = agent.requests_approval(&plane, "payments.send", json!({ "amount": 82 })).await;
        alice.rejects(&plane, &asked, Some(reason)).await;
        for told in [agent.reads_decision(&plane, &asked).await, agent.waits(&plane, &asked, 55).await] {
            let told = told.expect(200).json();
            assert_eq!((&told["state"], &told["reason"]), (&json!("rejected"), &json!(reason)));
            assert_eq!(told["assurance"], "fresh");
        }
        let asked = agent.requests_approval(&plane, "payments.send", json!({ "amount": 84 })).await;
        alice.rejects(&plane, &asked, Some(&"é".repeat(4096))).await;
        assert_eq!(agent.reads_decision(&plane, &asked).await.expect(200).json()["reason"], "é".repeat(4096));
        let asked = agent.requests_approval(&plane, "payments.send", json!({ "amount": 83 })).await;
        alice.rejects(&plane, &asked, None).await;
        assert_eq!(agent.reads_decision(&plane, &asked).await.expect(200).json().get("reason"), None);
    }

    /// AAEP-6.3.2-03, AAEP-6.3.2-04
    async fn an_approval_of_something_else_is_a_rejection_and_the_agent_gets_the_proposal(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let asked = agent.requests_approval(&plane, "payments.send", json!({ "amount": 82_000 })).await;
        alice.proposes(&plane, &asked, json!({ "amount": 82 })).await;
        let told = agent.reads_decision(&plane, &asked).await.expect(200).json();
        assert_eq!((&told["state"], &told["proposal"]), (&json!("rejected"), &json!({ "amount": 82 })));
        assert_eq!(told.get("allowance"), None);
        for amount in [82, 82_000] {
            let claim = json!({ "tool": "payments.send", "arguments": { "amount": amount } });
            let refused = agent.claims(&plane, &asked, &claim).await.status;
            assert!(matches!(refused, 403 | 409), "{amount}: {refused}");
        }
        let own = agent.requests_approval(&plane, "payments.send", json!({ "amount": 82 })).await;
        assert_eq!(own["state"], "pending", "the proposal needs a question of its own");
    }

    /// AAEP-6.5.5-05
    async fn a_clarification_that_nobody_answers_gives_its_default_or_nothing_and_invents_no_answer(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let (_phone, mut heard) = alice.subscribed(&plane).await;
        let bare = json!({ "question": "Which colour?", "timeout_seconds": 60 });
        let mut default = json!({ "question": "Which account?", "timeout_seconds": 60 });
        default["default_response"] = json!("the usual one");
        let with_default = agent.requests_clarification(&plane, &default).await.expect(201).json();
        let without = agent.requests_clarification(&plane, &bare).await.expect(201).json();
        plane.advance_secs(59).await;
        for asked in [&with_default, &without] {
            assert_eq!(agent.reads_decision(&plane, asked).await.expect(200).json(), *asked);
        }
        plane.advance_secs(1).await;
        let told = agent.reads_decision(&plane, &with_default).await.expect(200).json();
        assert_eq!((&told["state"], &told["expired_as"]), (&json!("expired"), &json!("default_response")));
        assert_eq!(told["response"], "the usual one");
        let told = agent.reads_decision(&plane, &without).await.expect(200).json();
        assert_eq!((&told["state"], &told["expired_as"]), (&json!("expired"), &json!("unavailable")));
        assert_eq!(told.get("response"), None);
        let mut ended = std::collections::BTreeSet::new();
        while ended.len() < 2 {
            let changed = heard.next_of("state.changed").await;
            if changed["from_state"] == "awaiting_input" {
                ended.insert(changed["extensions"]["dev_countersign"]["decision_id"].to_string());
            }
        }
        assert!([&with_default, &without].iter().all(|asked| ended.contains(&asked["decision_id"].to_string())));
    }
}
