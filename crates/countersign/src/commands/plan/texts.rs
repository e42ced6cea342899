//! Texts for plans and their steps.

use countersign_protocol::mplp::{PlanStatus, StepStatus, SumLeft};

pub(super) fn plan(status: PlanStatus) -> &'static str {
    match status {
        PlanStatus::Draft => "draft",
        PlanStatus::Proposed => "proposed",
        PlanStatus::Approved => "approved",
        PlanStatus::InProgress => "in progress",
        PlanStatus::Completed => "completed",
        PlanStatus::Cancelled => "cancelled",
        PlanStatus::Failed => "failed",
    }
}

pub(super) fn step(status: StepStatus) -> &'static str {
    match status {
        StepStatus::Pending => "pending",
        StepStatus::InProgress => "in progress",
        StepStatus::Completed => "completed",
        StepStatus::Blocked => "blocked",
        StepStatus::Skipped => "skipped",
        StepStatus::Failed => "failed",
    }
}

/// Whether the plan is in a final state.
pub(super) fn is_over(status: PlanStatus) -> bool {
    matches!(status, PlanStatus::Completed | PlanStatus::Cancelled | PlanStatus::Failed)
}

/// Whether the step ended as intended.
pub(super) fn is_done(status: StepStatus) -> bool {
    matches!(status, StepStatus::Completed | StepStatus::Skipped)
}

/// `body.amount 400.00 of 1200.00 USD`
pub(in crate::commands) fn sum(sum: &SumLeft) -> String {
    format!("{} {} of {} {}", sum.argument, sum.left, sum.limit, sum.unit)
}
