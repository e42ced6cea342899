//! Steps that the agent runs by itself, and cancelled plans.

use super::{Stage, id, plan, step};
use countersign_testkit::{Answer, on_sqlite};
use serde_json::json;

async fn reports(stage: &Stage, n: u64, at: u64, status: &str) -> Answer {
    let below = format!("plans/{}/steps/{}", id(n), step(n, at));
    stage.post(&stage.agent, &below, &json!({ "status": status })).await
}

on_sqlite! {
    /// MPLP-4.1-03
    async fn steps_run_in_the_order_of_their_dependencies_and_the_plan_follows_them(kit) {
        let stage = Stage::set(kit).await;
        let asked = stage.proposed(&plan(1, 2)).await;
        stage.says(&asked, "approved", None).await;
        assert_eq!(reports(&stage, 1, 2, "in_progress").await.refusal(), (409, "conflict".into()));
        assert_eq!(reports(&stage, 1, 1, "completed").await.refusal(), (409, "conflict".into()), "it has not begun");
        assert_eq!(reports(&stage, 1, 1, "in_progress").await.expect(200).json()["status"], "in_progress");
        assert_eq!(reports(&stage, 1, 2, "in_progress").await.refusal(), (409, "conflict".into()));
        reports(&stage, 1, 1, "completed").await.expect(200);
        assert_eq!(reports(&stage, 1, 1, "pending").await.refusal(), (409, "conflict".into()), "it is over");
        reports(&stage, 1, 2, "in_progress").await.expect(200);
        let trace = stage.get(&stage.agent, &format!("plans/{}/trace", id(1))).await.expect(200).json();
        assert_eq!((&trace["status"], &trace["segments"][1]["status"]), (&json!("running"), &json!("running")));
        let done = reports(&stage, 1, 2, "completed").await.expect(200).json();
        assert_eq!(done["status"], "completed");
        let told = stage.told_types().await;
        let expected = ["step_started", "step_completed", "step_started", "step_completed", "plan_status_changed"];
        let of_steps: Vec<&str> = told.iter().map(String::as_str).rev().take(5).collect();
        assert_eq!(of_steps.into_iter().rev().collect::<Vec<_>>(), expected);
        let odd = stage.post(&stage.agent, &format!("plans/{}/steps/{}", id(1), id(5)), &json!({ "status": "skipped" })).await;
        assert_eq!(odd.refusal(), (404, "not_found".into()));
        let odd = reports(&stage, 1, 1, "done").await;
        assert_eq!(odd.refusal(), (400, "invalid_request".into()));
    }

    /// MPLP-1-01
    async fn a_draft_is_given_up_by_its_agent_alone(kit) {
        let stage = Stage::set(kit).await;
        stage.post(&stage.agent, "plans", &plan(1, 1)).await.expect(201);
        let below = format!("plans/{}/cancel", id(1));
        assert_eq!(stage.post(&stage.device, &below, &json!({})).await.refusal(), (409, "conflict".into()));
        let path = format!("/mplp/v1/{below}");
        let nothing_sent = stage.agent.send(&stage.plane.public, http::Method::POST, &path, None).await;
        assert_eq!(nothing_sent.expect(200).json()["status"], "cancelled");
        let anew = stage.post(&stage.agent, "plans", &plan(1, 1)).await;
        assert_eq!(anew.refusal(), (409, "conflict".into()));
    }
}
