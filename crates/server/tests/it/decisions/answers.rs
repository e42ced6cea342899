//! The content of an answer that the agent receives: the reason of a rejection, a proposal, the response to its question.

use countersign_engine::NotCounted;
use countersign_testkit::{decisions::DecisionFixture, on_sqlite};
use serde_json::{Value, json};

on_sqlite! {
    /// AAEP-6.3.2-02
    async fn the_reason_of_a_rejection_reaches_the_agent_word_for_word(kit) {
        let DecisionFixture { plane, alice, agent } = kit.asked().await;
        let reason = "Zahl erst am 1. – „nicht vorher“! 😀";
        let asked = agent.asks_to(&plane, "payments.send", json!({ "amount": 82 })).await;
        alice.rejects(&plane, &asked, Some(reason)).await;
        for told in [agent.looks(&plane, &asked).await, agent.waits(&plane, &asked, 55).await] {
            let told = told.expect(200).json();
            assert_eq!((&told["state"], &told["reason"]), (&json!("rejected"), &json!(reason)));
            assert_eq!(told["assurance"], "fresh");
        }
        let asked = agent.asks_to(&plane, "payments.send", json!({ "amount": 84 })).await;
        alice.rejects(&plane, &asked, Some(&"é".repeat(4096))).await;
        assert_eq!(agent.looks(&plane, &asked).await.expect(200).json()["reason"], "é".repeat(4096));
        let asked = agent.asks_to(&plane, "payments.send", json!({ "amount": 83 })).await;
        alice.rejects(&plane, &asked, None).await;
        assert_eq!(agent.looks(&plane, &asked).await.expect(200).json().get("reason"), None);
    }

    /// AAEP-6.3.2-03, AAEP-6.3.2-04
    async fn an_approval_of_something_else_is_a_rejection_and_the_agent_gets_the_proposal(kit) {
        let DecisionFixture { plane, alice, agent } = kit.asked().await;
        let asked = agent.asks_to(&plane, "payments.send", json!({ "amount": 82_000 })).await;
        alice.proposes(&plane, &asked, json!({ "amount": 82 })).await;
        let told = agent.looks(&plane, &asked).await.expect(200).json();
        assert_eq!((&told["state"], &told["proposal"]), (&json!("rejected"), &json!({ "amount": 82 })));
        assert_eq!(told.get("allowance"), None);
        for amount in [82, 82_000] {
            let claim = json!({ "tool": "payments.send", "arguments": { "amount": amount } });
            let refused = agent.claims(&plane, &asked, &claim).await.status;
            assert!(matches!(refused, 403 | 409), "{amount}: {refused}");
        }
        let own = agent.asks_to(&plane, "payments.send", json!({ "amount": 82 })).await;
        assert_eq!(own["state"], "pending", "the proposal needs a question of its own");
    }

    ///
    async fn a_clarification_takes_the_kinds_that_it_asked_for_and_the_agent_gets_the_answer(kit) {
        let DecisionFixture { plane, alice, agent } = kit.asked().await;
        let choices = json!([{ "value": "67", "label": "Sixty-seven" }, { "value": "a", "label": "A" }]);
        let cases = [
            (Value::Null, None, vec![json!(true), json!(67)], vec![json!("any text")]),
            (json!(["freetext"]), None, vec![json!(true), json!(67)], vec![json!("any text")]),
            (json!(["yes_no"]), None, vec![json!("yes"), json!(1)], vec![json!(true), json!(false)]),
            (json!(["numeric"]), None, vec![json!("67"), json!(true)], vec![json!(67), json!(6.7)]),
            (json!(["multiple_choice"]), Some(choices.clone()), vec![json!("Sixty-seven")], vec![json!("a")]),
            (json!(["multiple_choice", "numeric"]), Some(choices), vec![json!(true)], vec![json!("67"), json!(67)]),
        ];
        for (kinds, choices, wrong, right) in cases {
            for response in &right {
                let mut body = json!({ "question": format!("Which, of {kinds} and {response}?") });
                if !kinds.is_null() {
                    body["accepted_response_kinds"] = kinds.clone();
                }
                if let Some(choices) = &choices {
                    body["choices"] = choices.clone();
                }
                let asked = agent.clarifies(&plane, &body).await.expect(201).json();
                assert_eq!(asked["kind"], "clarification");
                for wrong in &wrong {
                    let verdict = alice.responds(&plane, &asked, wrong.clone()).await;
                    assert_eq!(verdict, Some(NotCounted::NotAllowed), "{wrong}");
                }
                assert_eq!(agent.looks(&plane, &asked).await.expect(200).json()["state"], "pending");
                alice.answers(&plane, &asked, response.clone()).await;
                let told = agent.looks(&plane, &asked).await.expect(200).json();
                assert_eq!((&told["state"], &told["response"]), (&json!("answered"), response));
            }
        }
    }

    /// AAEP-6.5.5-05
    async fn a_clarification_that_nobody_answers_gives_its_default_or_nothing_and_invents_no_answer(kit) {
        let DecisionFixture { plane, alice, agent } = kit.asked().await;
        let (_phone, mut heard) = alice.listening(&plane).await;
        let bare = json!({ "question": "Which colour?", "timeout_seconds": 60 });
        let mut default = json!({ "question": "Which account?", "timeout_seconds": 60 });
        default["default_response"] = json!("the usual one");
        let with_default = agent.clarifies(&plane, &default).await.expect(201).json();
        let without = agent.clarifies(&plane, &bare).await.expect(201).json();
        plane.advance_secs(59).await;
        for asked in [&with_default, &without] {
            assert_eq!(agent.looks(&plane, asked).await.expect(200).json(), *asked);
        }
        plane.advance_secs(1).await;
        let told = agent.looks(&plane, &with_default).await.expect(200).json();
        assert_eq!((&told["state"], &told["expired_as"]), (&json!("expired"), &json!("default_response")));
        assert_eq!(told["response"], "the usual one");
        let told = agent.looks(&plane, &without).await.expect(200).json();
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

    ///
    async fn only_an_answer_that_the_question_allows_counts(kit) {
        let DecisionFixture { plane, alice, agent } = kit.asked().await;
        let mut body = countersign_testkit::decisions::confirmation("payments.send", json!({}));
        body["allowed_replies"] = json!(["reject"]);
        let asked = agent.asks(&plane, &body).await.expect(201).json();
        assert_eq!(alice.tries(&plane, &asked, true).await, Some(NotCounted::NotAllowed));
        assert_eq!(agent.looks(&plane, &asked).await.expect(200).json()["state"], "pending");
        alice.rejects(&plane, &asked, None).await;
        assert_eq!(agent.looks(&plane, &asked).await.expect(200).json()["state"], "rejected");
    }

    ///
    async fn the_first_answer_settles_and_every_other_changes_nothing(kit) {
        let DecisionFixture { plane, alice, agent } = kit.asked().await;
        for n in 0..5 {
            let asked = agent.asks_to(&plane, "notes.archive", json!({ "n": n })).await;
            let tries = (0..8).map(|n| alice.tries(&plane, &asked, n % 2 == 0));
            let verdicts = futures_util::future::join_all(tries).await;
            let counted: Vec<usize> = (0..8).filter(|n| verdicts[*n].is_none()).collect();
            let [first] = counted[..] else { panic!("{verdicts:?}") };
            let state = agent.looks(&plane, &asked).await.expect(200).json()["state"].clone();
            assert_eq!(state, if first % 2 == 0 { "accepted" } else { "rejected" });
            assert!(verdicts.iter().flatten().all(|why| *why == NotCounted::Settled), "{verdicts:?}");
        }
    }
}
