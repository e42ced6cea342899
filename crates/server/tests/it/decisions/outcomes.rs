//! The outcome of a claim: reported, or unknown until a person finds out.

use countersign_testkit::{
    Plane, TestAgent, TestPerson,
    decisions::{DecisionFixture, confirmation},
    on_sqlite,
};
use serde_json::{Value, json};

const PAY: &str = "payments.send";

async fn claimed(plane: &Plane, alice: &TestPerson, agent: &TestAgent, amount: u32) -> Value {
    let arguments = json!({ "amount": amount });
    let asked = agent.requests_approval(plane, PAY, arguments.clone()).await;
    alice.accepts(plane, &asked).await;
    agent.claims(plane, &asked, &json!({ "tool": PAY, "arguments": arguments })).await.expect(200);
    asked
}

async fn state(plane: &Plane, agent: &TestAgent, asked: &Value) -> Value {
    agent.reads_decision(plane, asked).await.expect(200).json()["execution"]["state"].clone()
}

on_sqlite! {
    ///
    async fn an_outcome_is_reported_once_and_the_same_again_changes_nothing(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        for (amount, status, other) in [(1, "committed", "failed"), (2, "failed", "committed")] {
            let asked = claimed(&plane, &alice, &agent, amount).await;
            let told = agent.reports(&plane, &asked, status).await.expect(200).json();
            assert_eq!(told["execution"]["state"], status);
            assert_eq!(told["execution"].get("lease_until"), None);
            plane.advance_secs(1).await;
            assert_eq!(agent.reports(&plane, &asked, status).await.expect(200).json(), told);
            for contradiction in [other, "running"] {
                let answer = agent.reports(&plane, &asked, contradiction).await;
                assert_eq!(answer.refusal(), (409, "conflict".into()), "{status}, then {contradiction}");
            }
            assert_eq!(agent.reads_decision(&plane, &asked).await.expect(200).json(), told);
        }
    }

    ///
    async fn nothing_is_reported_about_an_unclaimed_approval(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let asked = agent.requests_approval(&plane, PAY, json!({})).await;
        for status in ["running", "committed", "failed"] {
            assert_eq!(agent.reports(&plane, &asked, status).await.refusal(), (409, "conflict".into()));
        }
        alice.accepts(&plane, &asked).await;
        assert_eq!(agent.reports(&plane, &asked, "committed").await.refusal(), (409, "conflict".into()));
    }

    ///
    async fn while_something_runs_or_may_have_run_the_same_is_not_asked_again(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let asked = claimed(&plane, &alice, &agent, 82).await;
        let again = confirmation(PAY, json!({ "amount": 82 }));
        let id = asked["decision_id"].as_str().unwrap();
        let refused = async || {
            let answer = agent.requests_confirmation(&plane, &again).await;
            assert_eq!(answer.refusal(), (409, "conflict".into()));
            assert!(answer.json()["error_description"].as_str().unwrap().contains(id), "it does not say which");
        };
        refused().await;
        plane.advance_secs(59).await;
        assert_eq!(state(&plane, &agent, &asked).await, "claimed");
        plane.advance_secs(1).await;
        assert_eq!(state(&plane, &agent, &asked).await, "unknown", "its lease has lapsed");
        refused().await;
        assert_eq!(alice.pending_questions(&plane).await, 0);
        plane.advance_secs(86_400).await;
        refused().await;
        agent.requests_confirmation(&plane, &confirmation(PAY, json!({ "amount": 83 }))).await.expect(201);
        let late = agent.reports(&plane, &asked, "running").await;
        assert_eq!(late.refusal(), (409, "conflict".into()), "a lapsed lease is not renewed");
        let told = agent.reports(&plane, &asked, "committed").await.expect(200).json();
        assert_eq!(told["execution"]["state"], "committed", "a late outcome still counts");
        agent.requests_confirmation(&plane, &again).await.expect(201);
    }

    ///
    async fn a_running_execution_keeps_its_lease(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let asked = claimed(&plane, &alice, &agent, 82).await;
        for _ in 0..3 {
            plane.advance_secs(45).await;
            let told = agent.reports(&plane, &asked, "running").await.expect(200).json();
            assert_eq!(told["execution"]["lease_until"], plane.now().plus_secs(60).to_rfc3339());
        }
        plane.advance_secs(60).await;
        assert_eq!(state(&plane, &agent, &asked).await, "unknown");
    }

    ///
    async fn a_claim_outlives_a_restart_and_lapses_by_its_row(kit) {
        let (plane, _folder) = kit.lasting_plane(countersign_testkit::Setup::payments()).await;
        let DecisionFixture { plane, alice, agent } = DecisionFixture::on(plane).await;
        let asked = claimed(&plane, &alice, &agent, 82).await;
        let plane = plane.restart().await;
        assert_eq!(state(&plane, &agent, &asked).await, "claimed");
        let claim = json!({ "tool": PAY, "arguments": { "amount": 82 } });
        assert_eq!(agent.claims(&plane, &asked, &claim).await.refusal(), (409, "conflict".into()));
        plane.advance_without_settling(61).await;
        let plane = plane.restart().await;
        plane.advance_secs(0).await;
        assert_eq!(state(&plane, &agent, &asked).await, "unknown");
    }
}
