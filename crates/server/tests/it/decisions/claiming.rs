//! Claiming: an approval is claimed once, for exactly the approved action.

use countersign_engine::Role;
use countersign_testkit::{
    PASSWORD, Plane, Setup, TestAgent, TestPerson,
    decisions::{DecisionFixture, confirmation},
    on_both_stores,
};
use serde_json::{Value, json};

const PAY: &str = "payments.send";

fn paying(amount: u32) -> Value {
    json!({ "tool": PAY, "arguments": { "amount": amount, "to": "ACME" } })
}

/// A correct agent: it acts only after a claim is answered with 200.
async fn carries_out(plane: &Plane, agent: &TestAgent, asked: &Value, claim: &Value, effects: &mut u32) -> u16 {
    let answer = agent.claims(plane, asked, claim).await;
    if answer.status == 200 {
        *effects += 1;
    }
    answer.status
}

on_both_stores! {
    /// AAEP-6.1-02
    async fn nothing_runs_before_the_approval_and_once_after_it(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let mut effects = 0;
        let asked = agent.requests_approval(&plane, PAY, paying(82)["arguments"].clone()).await;
        let early = agent.claims(&plane, &asked, &paying(82)).await;
        assert_eq!(early.refusal(), (409, "conflict".into()));
        assert_eq!(carries_out(&plane, &agent, &asked, &paying(82), &mut effects).await, 409);
        assert_eq!(effects, 0);
        alice.accepts(&plane, &asked).await;
        let open = agent.reads_decision(&plane, &asked).await.expect(200).json();
        assert_eq!((&open["allowance"]["state"], &open["allowance"]["uses_left"]), (&json!("open"), &json!(1)));
        assert_eq!(carries_out(&plane, &agent, &asked, &paying(82), &mut effects).await, 200);
        assert_eq!(carries_out(&plane, &agent, &asked, &paying(82), &mut effects).await, 409);
        assert_eq!(effects, 1);
        let spent = agent.reads_decision(&plane, &asked).await.expect(200).json();
        assert_eq!((&spent["allowance"]["state"], &spent["allowance"]["uses_left"]), (&json!("spent"), &json!(0)));
        assert_eq!(spent["execution"]["state"], "claimed");
        agent.reports(&plane, &asked, "committed").await.expect(200);
        assert_eq!(carries_out(&plane, &agent, &asked, &paying(82), &mut effects).await, 409, "done is done");
    }

    ///
    async fn the_same_action_is_approved_once_runs_once_and_is_asked_for_anew_when_it_is_done(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let question = confirmation(PAY, paying(82)["arguments"].clone());
        let first = agent.requests_confirmation(&plane, &question).await.expect(201).json();
        alice.accepts(&plane, &first).await;
        assert_eq!(agent.requests_confirmation(&plane, &question).await.expect(200).json()["decision_id"], first["decision_id"]);
        agent.claims(&plane, &first, &paying(82)).await.expect(200);
        let beside = agent.requests_confirmation(&plane, &question).await;
        assert_eq!(beside.refusal(), (409, "conflict".into()));
        assert!(beside.text().contains(first["decision_id"].as_str().unwrap()), "{}", beside.text());
        agent.reports(&plane, &first, "committed").await.expect(200);
        let second = agent.requests_confirmation(&plane, &question).await.expect(201).json();
        alice.accepts(&plane, &second).await;
        agent.claims(&plane, &second, &paying(82)).await.expect(200);
    }

    ///
    async fn the_approval_by_an_admin_of_the_installation_can_be_claimed(kit) {
        let setup = Setup::payments_with(|document| document.actions[0].approvers = vec!["role:admin".into()]);
        let DecisionFixture { plane, agent, .. } = kit.decision_fixture_with(setup).await;
        plane.engine.people().add_person("platform", "platform", PASSWORD, true).await.unwrap();
        let root = TestPerson::sign_in(&plane, "platform").await;
        let asked = agent.requests_approval(&plane, PAY, paying(82)["arguments"].clone()).await;
        root.accepts(&plane, &asked).await;
        agent.claims(&plane, &asked, &paying(82)).await.expect(200);
    }

    ///
    async fn an_approval_of_one_action_cannot_be_claimed_for_another(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let asked = agent.requests_approval(&plane, PAY, paying(82_000)["arguments"].clone()).await;
        let other = agent.requests_approval(&plane, PAY, paying(820_000)["arguments"].clone()).await;
        alice.accepts(&plane, &asked).await;
        for claim in [
            paying(820_000),
            json!({ "digest": other["digest"] }),
            json!({ "tool": "mail.send", "arguments": paying(82_000)["arguments"] }),
            json!({ "tool": PAY }),
            json!({ "tool": PAY, "arguments": { "amount": "82000", "to": "ACME" } }),
            json!({ "tool": PAY, "arguments": { "amount": 82_000, "to": "ACME", "urgent": true } }),
        ] {
            let answer = agent.claims(&plane, &asked, &claim).await;
            assert_eq!(answer.refusal(), (403, "confirmation_invalid".into()), "{claim}");
        }
        agent.claims(&plane, &other, &paying(820_000)).await.expect(409);
        // The order of members and the notation of a number make no difference.
        let same = json!({ "tool": PAY, "arguments": { "to": "ACME", "amount": 8.2e4 } });
        agent.claims(&plane, &asked, &same).await.expect(200);
    }

    ///
    async fn of_fifty_simultaneous_claims_one_is_granted(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let asked = agent.requests_approval(&plane, PAY, paying(82)["arguments"].clone()).await;
        alice.accepts(&plane, &asked).await;
        let claim = paying(82);
        let claims = (0..50).map(|_| agent.claims(&plane, &asked, &claim));
        let answers = futures_util::future::join_all(claims).await;
        let granted = answers.iter().filter(|answer| answer.status == 200).count();
        let refused = answers.iter().filter(|answer| answer.status == 409).count();
        assert_eq!((granted, refused), (1, 49));
    }

    ///
    async fn an_approval_lapses_when_its_time_is_over(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let asked = agent.requests_approval(&plane, PAY, paying(82)["arguments"].clone()).await;
        alice.accepts(&plane, &asked).await;
        plane.advance_without_settling(300).await;
        let unseen = agent.claims(&plane, &asked, &paying(82)).await;
        assert_eq!(unseen.refusal(), (409, "conflict".into()), "whether anybody has looked or not");
        plane.advance_secs(0).await;
        let lapsed = agent.reads_decision(&plane, &asked).await.expect(200).json();
        assert_eq!((&lapsed["state"], &lapsed["allowance"]["state"]), (&json!("accepted"), &json!("lapsed")));
        assert_eq!(agent.claims(&plane, &asked, &paying(82)).await.refusal(), (409, "conflict".into()));
        agent.requests_approval(&plane, PAY, paying(82)["arguments"].clone()).await;
    }

    ///
    async fn the_approval_by_a_person_no_longer_entitled_is_not_claimed(kit) {
        let DecisionFixture { plane, agent, .. } = kit.decision_fixture().await;
        let bob = plane.person_in("calendar", "bob", &[Role::Approver]).await;
        let carol = plane.person_in("calendar", "carol", &[Role::Approver]).await;
        let claim = |n: u32| json!({ "tool": "payments.release", "arguments": { "n": n } });
        let asks = async |n: u32| agent.requests_approval(&plane, "payments.release", json!({ "n": n })).await;
        let (first, second) = (asks(1).await, asks(2).await);
        bob.accepts(&plane, &first).await;
        carol.accepts(&plane, &second).await;
        plane.give_roles("calendar", "bob", &[Role::User]).await;
        assert_eq!(agent.claims(&plane, &first, &claim(1)).await.refusal(), (409, "conflict".into()));
        agent.claims(&plane, &second, &claim(2)).await.expect(200);
        plane.give_roles("calendar", "bob", &[Role::Approver]).await;
        agent.claims(&plane, &first, &claim(1)).await.expect(200);
    }
}
