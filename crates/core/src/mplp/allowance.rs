//! A standing approval as its readers see it: on `/mplp/v1/allowances` and in the access summary.

use super::{confirm, tool_in_words};
use crate::records::{Allowance, AllowanceState, Decision, Plan, Question, TextAuthor};
use countersign_protocol::mplp::{AllowanceShown, AllowanceStatus, Left, MplpId, SumLeft};

pub fn shown(allowance: &Allowance, decision: &Decision, plan: Option<&Plan>) -> AllowanceShown {
    let step = allowance.step.as_ref().map(|of| of.step.clone());
    let (shown, words) = permitted_text(decision, plan, step.as_ref());
    // A tool's actual arguments are more reliable than its agent's description.
    let shown = allowance.pattern.as_ref().and_then(tool_in_words).unwrap_or(shown);
    AllowanceShown {
        confirm_id: confirm::confirm_id(decision),
        decision_id: decision.id.clone(),
        plan_id: plan.map(|plan| plan.id.clone()),
        step_id: step,
        shown,
        words,
        agent: agent(allowance),
        approved_at: decision.approved_at(),
        released: allowance.pattern.as_ref().map(|pattern| pattern.released().clone()).unwrap_or_default(),
        uses: allowance.tally.uses,
        left: left(allowance),
    }
}

/// The remaining uses of an allowance: none, once it is closed.
pub fn left(allowance: &Allowance) -> Left {
    let open = allowance.is_open();
    let tally = &allowance.tally;
    Left {
        allowance_id: id(allowance),
        state: match allowance.state {
            AllowanceState::Open => AllowanceStatus::Open,
            AllowanceState::Spent => AllowanceStatus::Spent,
            AllowanceState::Lapsed { .. } => AllowanceStatus::Lapsed,
            AllowanceState::Cancelled { .. } => AllowanceStatus::Cancelled,
        },
        uses: if open { tally.uses - tally.used } else { 0 },
        sums: sums(allowance),
        until: allowance.until,
    }
}

/// The public id of an allowance: `alw_` and its key in hex.
pub fn id(allowance: &Allowance) -> String {
    format!("alw_{:016x}", allowance.key)
}

fn sums(allowance: &Allowance) -> Vec<SumLeft> {
    let sums = allowance.tally.sums.iter();
    let shown = sums.map(|(argument, sum)| SumLeft {
        argument: argument.clone(),
        limit: sum.limit,
        left: sum.remaining(),
        unit: sum.unit.clone(),
    });
    shown.collect()
}

/// The permitted call in words, and their author.
fn permitted_text(decision: &Decision, plan: Option<&Plan>, step: Option<&MplpId>) -> (String, TextAuthor) {
    let planned = plan.zip(step).and_then(|(plan, step)| plan.actions.get(step));
    match (planned, &decision.question) {
        (Some(planned), _) => (planned.shown.clone(), planned.words),
        (None, Question::Confirmation(asked)) => (asked.action.clone(), decision.words),
        (None, Question::Clarification(asked)) => (asked.question.clone(), decision.words),
    }
}

/// The proven domain of its operator, or the id of its key.
fn agent(allowance: &Allowance) -> String {
    let by = &allowance.raised_by;
    by.operator.as_ref().map_or_else(|| by.principal.clone(), ToString::to_string)
}
