//! The tools, one file each. A new tool needs a line here.

mod await_decision;
mod begin_action;
mod cancel_plan;
mod list_actions;
mod next;
mod plan_status;
mod propose_plan;
mod report_outcome;
mod report_step;
mod request_clarification;
mod request_confirmation;
mod responses;
mod withdraw_question;
mod wwa_clarify_audit;
mod wwa_clarify_check;
mod wwa_clarify_confirm;
mod wwa_clarify_resolve;
mod wwa_scaffold_attest;
mod wwa_scaffold_plan;

use super::tool::{ListedTool, listed};

/// Every tool, in the order in which clients list them.
pub(super) const ALL: &[ListedTool] = &[
    listed::<request_confirmation::RequestConfirmation>(),
    listed::<await_decision::AwaitDecision>(),
    listed::<begin_action::BeginAction>(),
    listed::<report_outcome::ReportOutcome>(),
    listed::<propose_plan::ProposePlan>(),
    listed::<plan_status::PlanStatus>(),
    listed::<report_step::ReportStep>(),
    listed::<cancel_plan::CancelPlan>(),
    listed::<request_clarification::RequestClarification>(),
    listed::<withdraw_question::WithdrawQuestion>(),
    listed::<list_actions::ListActions>(),
    listed::<wwa_clarify_check::ClarifyCheck>(),
    listed::<wwa_clarify_resolve::ClarifyResolve>(),
    listed::<wwa_clarify_confirm::ClarifyConfirm>(),
    listed::<wwa_clarify_audit::ClarifyAudit>(),
    listed::<wwa_scaffold_plan::ScaffoldPlan>(),
    listed::<wwa_scaffold_attest::ScaffoldAttest>(),
];

/// Names that the published specification uses only in its diagram.
const ALSO_CALLED: &[(&str, &str)] = &[("confirm_plan", "wwa_clarify_confirm"), ("resolve_gap", "wwa_clarify_resolve")];

pub(super) fn find(name: &str) -> Option<&'static ListedTool> {
    let name = ALSO_CALLED.iter().find(|(also, _)| *also == name).map_or(name, |(_, name)| name);
    ALL.iter().find(|tool| tool.name == name)
}

#[cfg(test)]
mod tests;
