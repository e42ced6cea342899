//! `propose_plan` and `plan_status`: a person approves a plan once, and it then covers the steps that it shows.

use super::calling::call_tool;
use crate::mplp::Stage;
use countersign_testkit::{decisions::confirmation, on_sqlite};
use serde_json::{Value, json};

const PLAN: &str = "8d5b1f0a-3c27-4e94-9a61-2f7d40c3b815";
const STEP: &str = "2c9e7b14-6f53-4a08-b2d7-91f4a6e03c85";

fn plan() -> Value {
    let step = json!({ "step_id": STEP, "description": "Archive the note", "status": "completed" });
    json!({
        "plan": {
            "meta": { "protocol_version": "1.0.0", "schema_version": "1.0.0" },
            "plan_id": PLAN, "context_id": STEP, "title": "Tidy", "objective": "No old notes", "status": "approved",
            "steps": [step],
        },
        "actions": { STEP: { "tool": "notes.archive", "arguments": { "note": 1 } } },
        "reason": "before the holidays",
    })
}

on_sqlite! {
    async fn an_unsound_plan_is_refused_by_its_member_and_leaves_nothing(kit) {
        let stage = Stage::set(kit).await;
        let mut circular = plan();
        circular["plan"]["steps"][0]["dependencies"] = json!([STEP]);
        let mut strange = plan();
        strange["actions"] = json!({ PLAN: { "tool": "notes.archive" } });
        let mut both = plan();
        both["actions"][STEP]["route"] = json!("pay");
        for (wrong, named) in [(circular, "circle"), (strange, "actions"), (both, "actions")] {
            let told = call_tool(&stage.plane, &stage.agent, "propose_plan", wrong).await;
            assert_eq!(told.refusal(), "invalid_request");
            assert!(told.content["error_description"].as_str().unwrap().contains(named), "{}", told.text);
        }
        let told = call_tool(&stage.plane, &stage.agent, "plan_status", json!({ "plan_id": PLAN })).await;
        assert_eq!(told.refusal(), "not_found");
    }

    ///
    async fn a_plan_runs_nothing_before_a_persons_approval_despite_its_own_status(kit) {
        let stage = Stage::set(kit).await;
        let (plane, agent) = (&stage.plane, &stage.agent);
        let proposed = call_tool(plane, agent, "propose_plan", plan()).await.given();
        assert_eq!((&proposed["plan_id"], &proposed["decision"]["state"]), (&json!(PLAN), &json!("pending")));
        let next = proposed["next"].as_str().unwrap();
        assert!(next.contains(proposed["decision"]["page"].as_str().unwrap()), "{next}");
        let status = call_tool(plane, agent, "plan_status", json!({ "plan_id": PLAN })).await.given();
        assert_eq!((&status["status"], &status["steps"][0]["status"]), (&json!("proposed"), &json!("pending")));
        assert_eq!(status["decision"], proposed["decision"]);
        let question = confirmation("notes.archive", json!({ "note": 1 }));
        let asked = call_tool(plane, agent, "request_confirmation", question).await.given();
        assert_eq!(asked["state"], "pending", "a plan that nobody approved covers nothing");
        assert_eq!(call_tool(plane, agent, "propose_plan", plan()).await.refusal(), "conflict", "it is asked already");
    }

    async fn a_plan_that_came_back_says_why_and_is_proposed_anew(kit) {
        let stage = Stage::set(kit).await;
        let (plane, agent) = (&stage.plane, &stage.agent);
        let proposed = call_tool(plane, agent, "propose_plan", plan()).await.given();
        stage.alice.rejects(plane, &proposed["decision"], Some("not that note")).await;
        let status = call_tool(plane, agent, "plan_status", json!({ "plan_id": PLAN })).await.given();
        assert_eq!((&status["status"], &status["feedback"]), (&json!("draft"), &json!("not that note")));
        assert!(status["next"].as_str().unwrap().contains("propose_plan"));
        let mut other = plan();
        other["actions"][STEP]["arguments"]["note"] = json!(2);
        let again = call_tool(plane, agent, "propose_plan", other).await.given();
        assert_ne!(again["confirm_id"], proposed["confirm_id"]);
    }
}
