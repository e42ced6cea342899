//! The shape of a Plan, and its steps as a graph.

use super::documents::{self, ID, OTHER_ID, with, without};
use crate::mplp_judge;
use countersign_protocol::mplp::{MplpId, Plan, PlanStep, StepStatus};
use serde_json::{Value, json};

fn plan() -> Value {
    documents::document("plan")
}

#[track_caller]
fn refused(document: &Value, member: &str) {
    let why = Plan::read(document.to_string().as_bytes()).unwrap_err();
    assert_eq!(why.member, member, "{why}");
    assert!(!mplp_judge::problems("plan", document).is_empty(), "the schema accepts it");
}

#[test]
fn a_plan_has_its_seven_members_a_title_and_at_least_one_step() {
    for member in ["meta", "plan_id", "context_id", "title", "objective", "status", "steps"] {
        refused(&without(plan(), &format!("/{member}")), member);
    }
    for member in ["title", "objective"] {
        refused(&with(plan(), &format!("/{member}"), json!("")), member);
    }
    refused(&with(plan(), "/steps", json!([])), "steps");
    refused(&with(plan(), "/steps/0/description", json!("")), "steps[0].description");
    refused(&with(plan(), "/steps/1/order_index", json!(-1)), "steps[1].order_index");
    refused(&with(plan(), "/steps/1/dependencies", json!(["step-1"])), "steps[1].dependencies[0]");
}

/// Status names from other texts are invalid (M-20), and a Plan has no governance (M-19).
#[test]
fn a_plan_knows_no_pending_approval_and_no_governance() {
    refused(&with(plan(), "/status", json!("pending_approval")), "status");
    refused(&with(plan(), "/governance", json!({})), "governance");
    refused(&with(plan(), "/steps/0/status", json!("cancelled")), "steps[0].status");
    refused(&with(plan(), "/steps/0/tool", json!("pay")), "steps[0].tool");
}

fn id(n: u8) -> MplpId {
    MplpId::from_random([n; 16])
}

fn steps(dependencies: &[&[u8]]) -> Plan {
    let step = |(n, needs): (usize, &&[u8])| PlanStep {
        step_id: id(u8::try_from(n).unwrap()),
        description: "do it".into(),
        status: StepStatus::Pending,
        dependencies: needs.iter().map(|n| id(*n)).collect(),
        agent_role: None,
        order_index: None,
    };
    let mut plan = Plan::read(plan().to_string().as_bytes()).unwrap();
    plan.steps = dependencies.iter().enumerate().map(step).collect();
    plan
}

#[test]
fn steps_depend_on_steps_of_the_same_plan_and_never_in_a_circle() {
    let told = |plan: &Plan| plan.check_dependencies().unwrap_err().member;
    assert_eq!(told(&steps(&[&[0]])), "steps");
    assert_eq!(told(&steps(&[&[], &[2], &[3], &[1]])), "steps");
    assert_eq!(told(&steps(&[&[], &[0, 9]])), "steps[1].dependencies[1]");
    let mut twice = steps(&[&[], &[], &[]]);
    twice.steps[2].step_id = id(0);
    assert_eq!(told(&twice), "steps[2].step_id");
    assert_eq!(steps(&[&[1, 2], &[2, 3], &[3, 3], &[]]).check_dependencies(), Ok(()));
}

#[test]
fn an_order_index_may_be_written_as_a_fraction_of_nothing() {
    let read = Plan::read(with(plan(), "/steps/1/order_index", json!(3.0)).to_string().as_bytes()).unwrap();
    assert_eq!(read.steps[1].order_index, Some(3));
    assert_eq!((read.plan_id.as_str(), read.context_id.as_str()), (ID, OTHER_ID));
}
