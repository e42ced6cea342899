//! Submissions of agents and people about plans and Confirms.

use super::documents::{self, ID, OTHER_ID, with};
use countersign_protocol::mplp::{
    BadDocument, ConfirmSubmission, DecisionRequest, DecisionStatus, PlanSubmission, StepReport, StepStatus,
};
use serde_json::{Value, json};

fn submitted(actions: Value) -> Result<PlanSubmission, BadDocument> {
    read(&json!({ "plan": documents::document("plan"), "actions": actions }))
}

fn read(body: &Value) -> Result<PlanSubmission, BadDocument> {
    PlanSubmission::read(body.to_string().as_bytes())
}

fn told(refused: Result<PlanSubmission, BadDocument>) -> (String, String) {
    let BadDocument { member, why } = refused.unwrap_err();
    (member, why)
}

#[test]
fn an_action_belongs_to_a_step_and_runs_one_thing() {
    let unknown = "3f2b8c1d-5e6f-4a7b-8c9d-0e1f2a3b4c5d";
    assert_eq!(told(submitted(json!({ unknown: { "tool": "pay" } }))).0, format!("actions.{unknown}"));
    assert_eq!(told(submitted(json!({ "step-1": { "tool": "pay" } }))).0, "actions.step-1");
    let at = format!("actions.{ID}");
    for action in [json!({}), json!({ "tool": "pay", "route": "payments" })] {
        assert_eq!(told(submitted(json!({ ID: action }))), (at.clone(), "must have either tool or route".into()));
    }
    for (member, value) in
        [("arguments", json!([])), ("amount", json!(1)), ("uses", json!(1.5)), ("released", json!([]))]
    {
        let action = with(json!({ "tool": "pay" }), &format!("/{member}"), value);
        assert_eq!(told(submitted(json!({ ID: action }))).0, format!("{at}.{member}"));
    }
}

#[test]
fn an_action_is_used_once_unless_it_says_how_often() {
    for uses in [0, -1, 10_001] {
        let (member, why) = told(submitted(json!({ ID: { "tool": "pay", "uses": uses } })));
        assert_eq!((member, why.as_str()), (format!("actions.{ID}.uses"), "must be from 1 to 10000"));
    }
    let plan = submitted(json!({ ID: { "tool": "pay" }, OTHER_ID: { "route": "payments", "uses": 10_000 } })).unwrap();
    let uses: Vec<i64> = plan.actions.values().map(|action| action.uses).collect();
    assert_eq!(uses, [10_000, 1]);
}

#[test]
fn a_released_argument_has_a_bound() {
    let released = |bound: Value| json!({ ID: { "tool": "pay", "released": { "amount": bound } } });
    let at = format!("actions.{ID}.released.amount");
    for wrong in
        [json!({}), json!({ "most": 5 }), json!({ "most": "5", "text": 3 }), json!({ "most": "5", "more": "6" })]
    {
        let (member, why) = told(submitted(released(wrong)));
        assert!(member.starts_with(&at), "{member}: {why}");
    }
    let plan = submitted(released(json!({ "most": "500.00" }))).unwrap();
    assert_eq!(plan.actions.values().next().unwrap().released.len(), 1);
}

#[test]
fn a_plan_may_come_without_actions() {
    let bare = read(&documents::document("plan")).unwrap();
    assert_eq!(bare, submitted(json!({})).unwrap());
    assert!(bare.actions.is_empty());
    let again = read(&serde_json::to_value(&bare).unwrap()).unwrap();
    assert_eq!(again, bare);
}

#[test]
fn nothing_else_stands_beside_a_plan() {
    let body = json!({ "plan": documents::document("plan"), "status": "approved" });
    assert_eq!(told(read(&body)).0, "status");
    assert_eq!(told(read(&json!({ "plan": { "title": "x" } }))).0, "plan.meta");
    assert_eq!(told(read(&json!([]))).1, "must be an object");
}

#[test]
fn a_plan_is_at_most_200_steps_and_100_kib() {
    let steps = |count: u32| -> Value {
        let id = |n: u32| format!("550e8400-e29b-41d4-a716-{n:012x}");
        let step = |n| json!({ "step_id": id(n), "description": "do it", "status": "pending" });
        with(documents::document("plan"), "/steps", (0..count).map(step).collect())
    };
    assert_eq!(told(read(&steps(201))).0, "steps");
    assert_eq!(read(&steps(200)).unwrap().plan.steps.len(), 200);
    let sized = |bytes: usize| {
        let short = with(documents::document("plan"), "/title", json!(""));
        let rest = bytes - short.to_string().len();
        with(short, "/title", json!("x".repeat(rest)))
    };
    assert!(told(read(&sized(102_401))).1.contains("102400 bytes"));
    assert!(read(&sized(102_400)).is_ok());
}

#[test]
fn steps_in_a_circle_are_refused_when_they_are_sent() {
    let circle = with(documents::document("plan"), "/steps/0/dependencies", json!([ID]));
    assert_eq!(told(read(&circle)).1, "depend on one another in a circle");
}

#[test]
fn a_confirm_comes_bare_or_with_its_target() {
    let confirm = documents::document("confirm");
    let read = |body: &Value| ConfirmSubmission::read(body.to_string().as_bytes());
    assert_eq!(read(&json!({ "confirm": confirm, "target": [] })).unwrap_err().member, "target");
    assert_eq!(read(&json!({ "confirm": confirm, "plan": {} })).unwrap_err().member, "plan");
    let enveloped = read(&json!({ "confirm": confirm, "target": { "title": "A context" } })).unwrap();
    let bare = read(&confirm).unwrap();
    assert_eq!((bare.target, &bare.confirm), (None, &enveloped.confirm));
    assert_eq!(enveloped.target.unwrap()["title"], "A context");
}

#[test]
fn a_decision_names_its_result_and_neither_a_person_nor_a_time() {
    let read = |body: Value| DecisionRequest::read(body.to_string().as_bytes());
    for wrong in ["decided_at", "decision_id", "decided_by"] {
        assert_eq!(read(json!({ "status": "approved", wrong: "x" })).unwrap_err().member, wrong);
    }
    assert_eq!(read(json!({ "reason": "x" })).unwrap_err().to_string(), "status: is required");
    assert_eq!(read(json!({ "status": "pending" })).unwrap_err().member, "status");
    assert_eq!(read(json!({ "status": "approved", "steps": ["1"] })).unwrap_err().member, "steps[0]");
    let plain = read(json!({ "status": "rejected" })).unwrap();
    assert_eq!((plain.status, plain.by_override, plain.steps), (DecisionStatus::Rejected, false, None));
    let whole = json!({
        "status": "approved", "reason": "fine", "decided_by_role": "reviewer", "override": true, "steps": [ID],
        "bounds": { "uses": 3, "released": { "body.amount": { "most": "500.00" } } },
    });
    assert_eq!(serde_json::to_value(read(whole.clone()).unwrap()).unwrap(), whole);
}

#[test]
fn a_step_is_reported_in_the_words_of_its_status() {
    let read = |body: Value| StepReport::read(body.to_string().as_bytes());
    assert_eq!(read(json!({ "status": "done" })).unwrap_err().member, "status");
    assert_eq!(read(json!({ "status": "completed", "step_id": ID })).unwrap_err().member, "step_id");
    assert_eq!(read(json!({ "status": "completed" })).unwrap().status, StepStatus::Completed);
}
