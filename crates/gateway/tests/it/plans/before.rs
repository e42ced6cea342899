//! A plan without approval lets nothing run, despite its own claims.

use super::{held, runs};
use countersign_engine::NotCounted;
use countersign_testkit::{
    TestAgent,
    bank::{BankScene, GatewayRequest, PlanDraft, paying, payouts},
    on_both_stores,
};
use http::Method;
use serde_json::{Value, json};

/// A planned call runs neither alone nor with a confirmation header, and the plan's status stays.
async fn nothing_runs(scene: &BankScene, draft: &PlanDraft, status: &str) {
    for sent in [BankScene::transfer_of("100.00"), BankScene::transfer_of("100.00").confirmed("true")] {
        let decision = held(scene, sent).await;
        assert!(decision.get("plan_difference").is_none(), "no plan runs: {decision}");
    }
    assert_eq!(scene.bank.got().len(), 0);
    assert_eq!(scene.statuses(draft).await, (status.into(), vec!["pending".into()]));
}

/// An agent's decision on the question about its own plan.
async fn agent_says(scene: &BankScene, decision: &Value, status: &str) -> countersign_testkit::Answer {
    let path = format!("/mplp/v1/confirms/{}/decisions", decision["confirm_id"].as_str().unwrap());
    scene.posts(&scene.agent, &path, &json!({ "status": status })).await
}

/// The status changes of the only plan, from its events.
async fn changes(scene: &BankScene) -> Vec<String> {
    let page = scene.own(&scene.agent, Method::GET, "/mplp/v1/events?limit=200").await.expect(200).json();
    let all = page["items"].as_array().unwrap().iter();
    let changed = all.filter(|event| event["event_type"] == "plan_status_changed");
    let text = |event: &Value, name: &str| event["payload"][name].as_str().unwrap().to_owned();
    changed.map(|event| format!("{} to {}", text(event, "from"), text(event, "to"))).collect()
}

on_both_stores! {
    ///
    async fn the_agents_own_word_is_not_enough_for_calls_that_a_plan_leaves_to_its_person(kit) {
        let scene = kit.bank().await;
        let ping = || GatewayRequest::new("POST", "/pings").json("{}").confirmed("true");
        scene.sends(ping()).await.expect(201);
        let draft = PlanDraft::of(json!({ "route": "pings", "arguments": { "body": {} } }));
        scene.proposed(&draft).await;
        held(&scene, ping()).await;
        assert_eq!(scene.bank.got().len(), 1, "it ran before it was planned, and not since");
    }

    ///
    async fn a_plan_for_more_calls_than_one_approval_covers_is_refused_before_anybody_is_asked(kit) {
        let scene = kit.bank_with(payouts).await;
        let refused = scene.writes(&PlanDraft::of(paying(101))).await;
        assert_eq!(refused.refusal(), (400, "invalid_request".into()));
        assert!(refused.text().contains("1 to 100 calls"), "{}", refused.text());
        let refused = scene.writes(&PlanDraft::of(paying(60)).runs(paying(41))).await;
        assert_eq!(refused.refusal(), (400, "invalid_request".into()));
        assert!(refused.text().contains("101 calls"), "{}", refused.text());
        assert_eq!(scene.alice.waiting_questions(&scene.plane).await, 0);
        scene.proposed(&PlanDraft::of(paying(100))).await;
    }

    /// MPLP-1-02, MPLP-4.3-03, R-14
    async fn a_plan_that_calls_itself_approved_is_a_draft_and_lets_nothing_run(kit) {
        let scene = kit.bank_with(payouts).await;
        let draft = PlanDraft::of(paying(3));
        let mut submission = draft.submission();
        submission["plan"]["status"] = json!("approved");
        submission["plan"]["steps"][0]["status"] = json!("in_progress");
        scene.posts(&scene.agent, "/mplp/v1/plans", &submission).await.expect(201);
        nothing_runs(&scene, &draft, "draft").await;
    }

    /// MPLP-1-02, MPLP-3.2-01
    async fn a_plan_that_waits_for_its_answer_lets_nothing_run(kit) {
        let scene = kit.bank_with(payouts).await;
        let draft = PlanDraft::of(paying(3));
        scene.proposed(&draft).await;
        nothing_runs(&scene, &draft, "proposed").await;
    }

    /// MPLP-1-02, MPLP-4.3-03, MPLP-4.3-04
    async fn a_rejected_plan_is_a_draft_again_with_the_reason_and_lets_nothing_run(kit) {
        let scene = kit.bank_with(payouts).await;
        let draft = PlanDraft::of(paying(3));
        let decision = scene.proposed(&draft).await;
        scene.alice.rejects(&scene.plane, &decision, Some("too much at once")).await;
        nothing_runs(&scene, &draft, "draft").await;
        let path = format!("/mplp/v1/plans/{}/actions", draft.id());
        let actions = scene.own(&scene.agent, Method::GET, &path).await.expect(200).json();
        assert_eq!(actions["feedback"], "too much at once");
        // It is editable, and the new version is asked about anew.
        scene.writes(&draft).await.expect(200);
        assert_ne!(scene.proposes(&draft, &json!({})).await, decision);
        nothing_runs(&scene, &draft, "proposed").await;
    }

    /// MPLP-1-02, MPLP-4.3-03, MPLP-4.3-08
    async fn a_plan_whose_question_is_called_off_by_whomever_is_a_draft_and_lets_nothing_run(kit) {
        for by_agent in [true, false] {
            let scene = kit.bank_with(payouts).await;
            let draft = PlanDraft::of(paying(3));
            let decision = scene.proposed(&draft).await;
            match by_agent {
                true => drop(agent_says(&scene, &decision, "cancelled").await.expect(201)),
                false => scene.alice.calls_off(&scene.plane, &decision).await.unwrap(),
            }
            nothing_runs(&scene, &draft, "draft").await;
            assert_eq!(changes(&scene).await, ["draft to proposed", "proposed to draft"]);
            let late = scene.alice.tries(&scene.plane, &decision, true).await;
            assert_eq!(late, Some(NotCounted::Settled));
            nothing_runs(&scene, &draft, "draft").await;
        }
    }

    /// MPLP-1-02, MPLP-4.3-10
    async fn a_plan_that_nobody_answered_in_time_is_a_draft_and_lets_nothing_run(kit) {
        let scene = kit.bank_with(payouts).await;
        let draft = PlanDraft::of(paying(3));
        scene.writes(&draft).await.expect(201);
        let decision = scene.proposes(&draft, &json!({ "timeout_seconds": 60 })).await;
        scene.plane.advance_secs(60).await;
        nothing_runs(&scene, &draft, "draft").await;
        let confirm = scene.confirm(&decision).await;
        let decisions = confirm["decisions"].as_array().unwrap();
        assert_eq!((confirm["status"].as_str(), decisions.len()), (Some("cancelled"), 1));
        let told = ["decided_by_role", "status", "reason"].map(|name| decisions[0][name].as_str().unwrap());
        assert_eq!(told, ["system:timeout", "cancelled", "expired"]);
        assert_eq!(scene.alice.tries(&scene.plane, &decision, true).await, Some(NotCounted::Settled));
        nothing_runs(&scene, &draft, "draft").await;
    }

    /// MPLP-1-02, MPLP-4.3-03, R-10
    async fn neither_its_agent_nor_a_person_without_entitlement_approves_a_plan(kit) {
        let scene = kit.bank_with(payouts).await;
        let bob = scene.plane.person("bob").await;
        let draft = PlanDraft::of(paying(3));
        let decision = scene.proposed(&draft).await;
        assert_eq!(agent_says(&scene, &decision, "approved").await.status, 403);
        assert_eq!(bob.tries(&scene.plane, &decision, true).await, Some(NotCounted::NotEntitled));
        nothing_runs(&scene, &draft, "proposed").await;
    }

    /// MPLP-4.3-03
    async fn an_approval_of_one_plan_is_none_of_another(kit) {
        let scene = kit.bank_with(payouts).await;
        let draft = PlanDraft::of(paying(3));
        scene.proposed(&draft).await;
        let mut others = paying(3);
        others["arguments"]["body"]["to"] = json!("others");
        let other = PlanDraft::of(others);
        scene.planned(&other).await;
        let decision = held(&scene, BankScene::transfer_of("100.00")).await;
        assert_eq!(decision["plan_difference"]["plan_id"], other.id());
        assert_eq!(scene.bank.got().len(), 0);
        assert_eq!(scene.statuses(&draft).await.0, "proposed");
        assert_eq!(scene.statuses(&other).await.0, "approved");
    }

    /// MPLP-3.2-02, MPLP-4.3-03
    async fn an_approved_plan_stays_approved_after_later_decisions(kit) {
        let scene = kit.bank_with(payouts).await;
        let draft = PlanDraft::of(paying(3));
        let decision = scene.planned(&draft).await;
        let approved = scene.confirm(&decision).await;
        assert_eq!(approved["status"], "approved");
        assert_eq!(scene.statuses(&draft).await.0, "approved");
        let subscriber = scene.alice.subscriber(&scene.plane).await;
        let device = TestAgent { token: subscriber.token, principal: subscriber.token_id };
        let path = format!("/mplp/v1/confirms/{}/decisions", decision["confirm_id"].as_str().unwrap());
        for status in ["rejected", "cancelled", "approved"] {
            device.post(&scene.plane, &path, &json!({ "status": status })).await.expect(409);
        }
        assert_eq!(agent_says(&scene, &decision, "cancelled").await.status, 409);
        assert_eq!(scene.confirm(&decision).await, approved);
        runs(&scene, "100.00").await;
        assert_eq!(scene.bank.effects().len(), 1);
    }
}
