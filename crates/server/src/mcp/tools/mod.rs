//! The tools by subject. A new tool needs a line here.

mod clarification;
mod decisions;
mod next;
mod plans;

use super::tool::{ListedTool, listed};

/// Every tool, in the order in which clients list them.
pub(super) const ALL: &[ListedTool] = &[
    listed::<decisions::RequestConfirmation>(),
    listed::<decisions::AwaitDecision>(),
    listed::<decisions::BeginAction>(),
    listed::<decisions::ReportOutcome>(),
    listed::<plans::ProposePlan>(),
    listed::<plans::ReadPlanStatus>(),
    listed::<plans::ReportStep>(),
    listed::<plans::CancelPlan>(),
    listed::<decisions::RequestClarification>(),
    listed::<decisions::WithdrawQuestion>(),
    listed::<decisions::ListActions>(),
    listed::<clarification::ClarifyCheck>(),
    listed::<clarification::ClarifyResolve>(),
    listed::<clarification::ClarifyConfirm>(),
    listed::<clarification::ClarifyAudit>(),
    listed::<clarification::ScaffoldPlan>(),
    listed::<clarification::ScaffoldAttest>(),
];

/// Names that the published specification uses only in its diagram.
const ALSO_CALLED: &[(&str, &str)] = &[("confirm_plan", "wwa_clarify_confirm"), ("resolve_gap", "wwa_clarify_resolve")];

pub(super) fn find(name: &str) -> Option<&'static ListedTool> {
    let name = ALSO_CALLED.iter().find(|(also, _)| *also == name).map_or(name, |(_, name)| name);
    ALL.iter().find(|tool| tool.name == name)
}

#[cfg(test)]
mod tests;
