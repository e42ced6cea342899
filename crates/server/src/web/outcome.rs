//! The outcome of a decision, for a person in its audience.

use super::standing_approval;
use crate::pages::{CallUndo, DecidedBy, OpenStandingApproval, OutcomeText, Prose, RunBy, Runs, ToldBy, Unanswered};
use countersign_engine::{
    Allowance, AllowanceState, Ballot, CancelledFor, DecisionState, Defaulted, Execution, ExecutionState, Point,
    ProjectAt, Reporter, UndoableCall, UndoableState, Whole,
};
use countersign_protocol::{ids::RowKey, time::UnixMillis};
use serde_json::Value;

pub(super) fn of(whole: &Whole, reader: RowKey, now: UnixMillis) -> OutcomeText {
    let who = |by: &Ballot| if by.person == reader { DecidedBy::You } else { DecidedBy::SomebodyElse };
    match &whole.decision.state {
        DecisionState::Pending { deadline, .. } if now < *deadline => OutcomeText::Open,
        DecisionState::Pending { .. } => OutcomeText::Over,
        DecisionState::Accepted { by, .. } => OutcomeText::Accepted { by: who(by), at: by.at },
        DecisionState::Rejected { by, rationale, .. } => {
            OutcomeText::Rejected { by: who(by), at: by.at, reason: rationale.as_deref().map(Prose::from) }
        }
        DecisionState::Answered { by, response, .. } => {
            OutcomeText::Answered { by: who(by), at: by.at, response: text(response).into() }
        }
        DecisionState::Expired { at, as_if } => OutcomeText::Expired { at: *at, as_if: came_to(as_if) },
        DecisionState::Cancelled { at, why: CancelledFor::TakenBack, by, reason } => OutcomeText::CalledOff {
            by: by.as_ref().map_or(DecidedBy::SomebodyElse, who),
            at: *at,
            reason: reason.as_deref().map(Prose::from),
        },
        DecisionState::Cancelled { at, why: CancelledFor::Withdrawn | CancelledFor::Superseded, .. } => {
            OutcomeText::Withdrawn { at: *at }
        }
        DecisionState::Cancelled { at, why: CancelledFor::SessionOver, .. } => OutcomeText::SessionOver { at: *at },
        DecisionState::Cancelled {
            at,
            why: CancelledFor::Revoked | CancelledFor::Restored | CancelledFor::Undone | CancelledFor::NotSent,
            ..
        } => OutcomeText::Revoked { at: *at },
    }
}

/// The execution or allowance of the decision. The page of a plan shows those of its steps.
pub(super) fn runs(whole: &Whole, reader: RowKey, now: UnixMillis) -> Option<Runs> {
    match &whole.execution {
        _ if whole.decision.plan().is_some() => None,
        Some(execution) => Some(ran(execution, whole.decision.point, reader)),
        None => whole.allowance.as_ref().and_then(|allowance| may_run(allowance, now)),
    }
}

/// What became of a call that its upstream was to undo.
pub(super) fn undo(call: &UndoableCall) -> Option<CallUndo> {
    match &call.state {
        UndoableState::InFlight | UndoableState::Open | UndoableState::Closed => None,
        UndoableState::Wanted { .. } | UndoableState::Attempted { .. } => Some(CallUndo::Undoing),
        UndoableState::Undone { at } => Some(CallUndo::Undone { at: *at }),
        UndoableState::Remains { at, why } => Some(CallUndo::Remains { at: *at, why: Prose::from(why.as_str()) }),
        UndoableState::Unknown { at } => Some(CallUndo::Unknown { at: *at }),
    }
}

/// The open standing approval, if any.
pub(super) fn open(at: &ProjectAt, whole: &Whole, now: UnixMillis) -> Option<OpenStandingApproval> {
    let bounded = whole.allowance.as_ref().filter(|allowance| allowance.is_bounded());
    let open = bounded.filter(|allowance| allowance.is_open() && now < allowance.until)?;
    Some(standing_approval::of(at, open, &whole.decision, None))
}

fn may_run(allowance: &Allowance, now: UnixMillis) -> Option<Runs> {
    if let Some(queued) = allowance.queued_call() {
        return Some(Runs::Held { until: queued.closes_at });
    }
    match allowance.state {
        AllowanceState::Cancelled { at, why: CancelledFor::Undone } => Some(Runs::Undone { at }),
        AllowanceState::Open if now < allowance.until && allowance.is_bounded() => None,
        AllowanceState::Open if now < allowance.until => Some(Runs::May { until: allowance.until }),
        AllowanceState::Open => Some(Runs::Lapsed { at: allowance.until }),
        AllowanceState::Lapsed { at } => Some(Runs::Lapsed { at }),
        AllowanceState::Cancelled { at, .. } => Some(Runs::Cancelled { at }),
        AllowanceState::Spent => None,
    }
}

fn ran(execution: &Execution, point: Point, reader: RowKey) -> Runs {
    let (run_by, claimant) = match point {
        Point::Gateway => (RunBy::Gateway, ToldBy::Gateway),
        Point::AgentClaimed | Point::McpProxy => (RunBy::Agent, ToldBy::Agent),
    };
    let told = |by: &Reporter| match by {
        Reporter::Claimant => (claimant, None),
        Reporter::Probe => (ToldBy::Upstream, None),
        Reporter::Person { person, reason } if *person == reader => (ToldBy::You, Some(Prose::from(reason.as_str()))),
        Reporter::Person { reason, .. } => (ToldBy::SomebodyElse, Some(Prose::from(reason.as_str()))),
    };
    match &execution.state {
        ExecutionState::Claimed { lease_until } => {
            Runs::Begun { at: execution.claimed_at, report_by: *lease_until, run_by }
        }
        ExecutionState::Committed { at, by } => {
            let (told_by, why) = told(by);
            Runs::Ran { at: *at, told_by, why }
        }
        ExecutionState::Failed { at, by, why } => {
            Runs::Failed { at: *at, told_by: told(by).0, why: why.as_deref().map(Prose::from) }
        }
        ExecutionState::Released { at } => Runs::Released { at: *at },
        ExecutionState::Unknown { since } => {
            let asked_until = execution.probe.as_ref().and_then(|probe| probe.probed_until());
            Runs::Unknown { since: *since, asked_until }
        }
    }
}

fn came_to(as_if: &Defaulted) -> Unanswered {
    match as_if {
        Defaulted::Accept => Unanswered::Accepted,
        Defaulted::Reject => Unanswered::Rejected,
        Defaulted::Response { response } => Unanswered::Response(response.as_str().into()),
        Defaulted::Unavailable => Unanswered::Unavailable,
    }
}

/// A response as a person reads it: strings without quotes, other values as JSON.
fn text(response: &Value) -> String {
    response.as_str().map_or_else(|| response.to_string(), str::to_owned)
}
