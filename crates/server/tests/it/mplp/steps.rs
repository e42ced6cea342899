//! Steps that the agent runs by itself, and cancelled plans.

use super::{Stage, archiving, id, items, plan, step};
use countersign_testkit::{Answer, decisions::confirmation, on_sqlite};
use serde_json::{Value, json};

async fn reports(stage: &Stage, n: u64, at: u64, status: &str) -> Answer {
    let below = format!("plans/{}/steps/{}", id(n), step(n, at));
    stage.post(&stage.agent, &below, &json!({ "status": status })).await
}

fn status_of(plan: &Value, at: usize) -> &str {
    plan["steps"][at]["status"].as_str().unwrap()
}

on_sqlite! {
    /// MPLP-3.2-01, MPLP-1-02
    async fn no_step_moves_before_a_person_has_approved_the_plan(kit) {
        let stage = Stage::set(kit).await;
        stage.post(&stage.agent, "plans", &plan(1, 1)).await.expect(201);
        for state in ["draft", "proposed", "rejected"] {
            if state == "proposed" {
                stage.proposed(&plan(1, 1)).await;
            }
            if state == "rejected" {
                let asked = items(&stage.get(&stage.agent, "confirms").await).remove(0);
                stage.says(&asked, "rejected", None).await;
            }
            for status in ["in_progress", "skipped", "blocked"] {
                let answer = reports(&stage, 1, 1, status).await;
                assert_eq!(answer.refusal(), (409, "conflict".into()), "{state}: {status}");
            }
            assert_eq!(status_of(&stage.plan(1).await, 0), "pending");
        }
    }

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

    /// MPLP-4.1-03
    async fn a_failed_step_blocks_its_dependents_and_the_plan_fails(kit) {
        let stage = Stage::set(kit).await;
        let asked = stage.proposed(&plan(1, 2)).await;
        stage.says(&asked, "approved", None).await;
        reports(&stage, 1, 1, "in_progress").await.expect(200);
        let body = json!({ "status": "failed", "reason": "the disk is full" });
        let below = format!("plans/{}/steps/{}", id(1), step(1, 1));
        let failed = stage.post(&stage.agent, &below, &body).await.expect(200).json();
        assert_eq!((status_of(&failed, 0), status_of(&failed, 1), &failed["status"]), ("failed", "blocked", &json!("failed")));
    }

    ///
    async fn a_plan_that_is_called_off_lets_nothing_run_any_more(kit) {
        let stage = Stage::set(kit).await;
        let call = confirmation("notes.archive", json!({ "note": "a" }));
        for (n, who) in [(1, &stage.agent), (2, &stage.device)] {
            let below = format!("plans/{}/cancel", id(n));
            let asked = stage.proposed(&archiving(n, 2)).await;
            if n == 1 {
                let waits = stage.post(who, &below, &json!({})).await;
                assert_eq!(waits.refusal(), (409, "conflict".into()), "its Confirm is cancelled instead");
            }
            stage.says(&asked, "approved", None).await;
            stage.agent.asks(&stage.plane, &call).await.expect(200);
            let cancelled = stage.post(who, &below, &json!({ "reason": "enough" })).await.expect(200).json();
            assert_eq!(cancelled["status"], "cancelled");
            let last = cancelled["events"].as_array().unwrap().last().unwrap().clone();
            assert_eq!((&last["event_type"], &last["data"]["reason"]), (&json!("plan.cancelled"), &json!("enough")));
            let held = stage.agent.asks(&stage.plane, &call).await.expect(201).json();
            stage.agent.withdraws(&stage.plane, &held, &json!({})).await.expect(200);
            assert_eq!(stage.post(who, &below, &json!({})).await.refusal(), (409, "conflict".into()), "it is over");
            let trace = stage.get(&stage.agent, &format!("plans/{}/trace", id(n))).await.expect(200).json();
            assert_eq!((&trace["status"], &trace["segments"][0]["status"]), (&json!("cancelled"), &json!("cancelled")));
        }
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

    ///
    async fn only_some_steps_may_be_approved_and_the_others_are_left_out(kit) {
        let stage = Stage::set(kit).await;
        let asked = stage.proposed(&plan(1, 3)).await;
        let chosen = |steps: Value| json!({ "status": "approved", "steps": steps });
        for odd in [json!([step(1, 2)]), json!([id(5)])] {
            let answer = stage.decides(&stage.device, &asked, &chosen(odd)).await;
            assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{}", answer.text());
        }
        assert_eq!(stage.plan(1).await["status"], "proposed");
        let body = chosen(json!([step(1, 1), step(1, 2)]));
        stage.decides(&stage.device, &asked, &body).await.expect(201);
        let approved = stage.plan(1).await;
        let all: Vec<&str> = (0..3).map(|at| status_of(&approved, at)).collect();
        assert_eq!((&approved["status"], all), (&json!("approved"), vec!["pending", "pending", "skipped"]));
    }
}
