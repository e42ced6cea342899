//! People are not flooded: beyond the limits no question reaches them.

use countersign_testkit::{
    Answer, Setup,
    decisions::{DecisionFixture, confirmation},
    on_sqlite,
};
use serde_json::json;

/// The refusal's `Retry-After`.
fn wait_of(answer: &Answer) -> i64 {
    assert_eq!(answer.refusal(), (429, "too_many_requests".into()));
    answer.header("retry-after").expect("Retry-After").parse().unwrap()
}

on_sqlite! {
    ///
    async fn an_agent_with_too_many_open_questions_waits_until_one_is_settled(kit) {
        let setup = Setup::payments_with(|document| document.decisions.max_open_per_agent = 2);
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture_with(setup).await;
        let first = agent.requests_approval(&plane, "payments.send", json!({ "n": 1 })).await;
        agent.requests_approval(&plane, "payments.send", json!({ "n": 2 })).await;
        let third = confirmation("payments.send", json!({ "n": 3 }));
        assert!(wait_of(&agent.requests_confirmation(&plane, &third).await) > 0);
        assert!(wait_of(&agent.requests_clarification(&plane, &json!({ "question": "May I?" })).await) > 0);
        assert_eq!(alice.pending_questions(&plane).await, 2, "nobody is disturbed");
        agent.requests_confirmation(&plane, &confirmation("payments.send", json!({ "n": 1 }))).await.expect(200);
        let other = plane.agent_key("alice", &["payments.send"]).await;
        other.requests_confirmation(&plane, &third).await.expect(201);
        alice.rejects(&plane, &first, None).await;
        let third = agent.requests_confirmation(&plane, &third).await.expect(201).json();
        agent.withdraws(&plane, &third, &json!({})).await.expect(200);
        agent.requests_confirmation(&plane, &confirmation("payments.send", json!({ "n": 4 }))).await.expect(201);
        plane.advance_secs(300).await;
        agent.requests_confirmation(&plane, &confirmation("payments.send", json!({ "n": 5 }))).await.expect(201);
        agent.requests_confirmation(&plane, &confirmation("payments.send", json!({ "n": 6 }))).await.expect(201);
    }

    ///
    async fn a_person_is_asked_only_so_much_at_a_time_by_all_agents(kit) {
        let setup = Setup::payments_with(|document| document.decisions.max_open_per_person = 2);
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture_with(setup).await;
        plane.person("bob").await;
        let pays = &["payments.send"];
        let others = [plane.agent_key("alice", pays).await, plane.agent_key("bob", pays).await];
        agent.requests_approval(&plane, "payments.send", json!({ "n": 1 })).await;
        others[0].requests_approval(&plane, "payments.send", json!({ "n": 1 })).await;
        assert!(wait_of(&agent.requests_confirmation(&plane, &confirmation("payments.send", json!({ "n": 2 }))).await) > 0);
        assert!(wait_of(&others[0].requests_confirmation(&plane, &confirmation("payments.send", json!({ "n": 2 }))).await) > 0);
        assert_eq!(alice.pending_questions(&plane).await, 2);
        others[1].requests_approval(&plane, "payments.send", json!({ "n": 2 })).await;
    }

    ///
    async fn an_agent_asks_only_so_often_within_an_hour(kit) {
        let setup = Setup::payments_with(|document| document.decisions.max_raised_per_hour = 2);
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture_with(setup).await;
        for n in 1..=2 {
            let asked = agent.requests_approval(&plane, "notes.archive", json!({ "n": n })).await;
            alice.accepts(&plane, &asked).await;
        }
        let third = confirmation("notes.archive", json!({ "n": 3 }));
        let seconds = wait_of(&agent.requests_confirmation(&plane, &third).await);
        assert_eq!(alice.pending_questions(&plane).await, 0);
        assert!((1..=3600).contains(&seconds), "{seconds}");
        plane.advance_secs(seconds - 1).await;
        assert_eq!(wait_of(&agent.requests_confirmation(&plane, &third).await), 1);
        plane.advance_secs(1).await;
        agent.requests_confirmation(&plane, &third).await.expect(201);
    }

    ///
    async fn an_action_that_was_rejected_three_times_rests_for_any_arguments(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        for n in 1..=3 {
            let asked = agent.requests_approval(&plane, "payments.send", json!({ "n": n })).await;
            alice.rejects(&plane, &asked, Some("not now")).await;
        }
        let seconds = wait_of(&agent.requests_confirmation(&plane, &confirmation("payments.send", json!({ "n": 4 }))).await);
        assert_eq!((seconds, alice.pending_questions(&plane).await), (600, 0));
        agent.requests_approval(&plane, "mail.send", json!({ "n": 1 })).await;
        plane.advance_secs(599).await;
        agent.requests_confirmation(&plane, &confirmation("payments.send", json!({ "n": 5 }))).await.expect(429);
        plane.advance_secs(2).await;
        agent.requests_approval(&plane, "payments.send", json!({ "n": 5 })).await;
    }

    ///
    async fn expiry_and_withdrawal_are_no_rejections(kit) {
        let DecisionFixture { plane, agent, .. } = kit.decision_fixture().await;
        for n in 1..=4 {
            let asked = agent.requests_approval(&plane, "payments.send", json!({ "n": n })).await;
            match n % 2 {
                0 => plane.advance_secs(300).await,
                _ => drop(agent.withdraws(&plane, &asked, &json!({})).await.expect(200)),
            }
        }
        agent.requests_approval(&plane, "payments.send", json!({ "n": 5 })).await;
    }
}
