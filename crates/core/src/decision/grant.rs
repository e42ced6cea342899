//! The extent of an approval: the rendered request once, or a standing approval within its limits.

use super::{
    answer::{AnswerView, Extra, NotCounted},
    settle::ApprovedExtent,
};
use crate::{
    bounded::{ActionTarget, AmountUse, Arguments, Pattern, Tally, Units},
    evidence::DraftEntry,
    mplp::progress,
    records::{Decision, Plan},
};
use countersign_protocol::{
    bounds::{Bound, Bounds},
    mplp::MplpId,
    question::ArgumentDifference,
};
use serde_json::json;
use std::collections::BTreeMap;

/// The request under approval, as rendered.
#[derive(Clone, Debug)]
pub struct AskedFor {
    pub what: ActionTarget,
    pub arguments: Arguments,
    /// The units of its amounts.
    pub units: Units,
}

impl AskedFor {
    /// The amounts to reserve from a standing approval, or the differences from its pattern.
    pub fn fits(&self, pattern: &Pattern) -> Result<Vec<AmountUse>, Vec<ArgumentDifference>> {
        match *pattern.target() == self.what {
            true => pattern.fit(&self.arguments, &self.units),
            false => Err(Vec::new()),
        }
    }
}

/// The extent of this approval.
pub(super) fn approved_extent(extra: &Extra, view: &AnswerView) -> Result<ApprovedExtent, NotCounted> {
    match (&view.plan, &extra.steps, &extra.bounds) {
        (Some(plan), steps, None) => {
            approved_steps(plan, steps.as_deref(), view.policy.max_uses).map(ApprovedExtent::Steps)
        }
        (None, None, None) => Ok(ApprovedExtent::Once),
        (None, None, Some(bounds)) => bounded(bounds, view),
        (Some(_), _, Some(_)) => Err(out_of_bounds("the bounds of a plan are those of its steps")),
        (None, Some(_), _) => Err(out_of_bounds("only a plan has steps to approve")),
    }
}

fn approved_steps(plan: &Plan, chosen: Option<&[MplpId]>, most: i64) -> Result<Vec<MplpId>, NotCounted> {
    let all = || plan.document.steps.iter().map(|step| step.step_id.clone()).collect();
    let chosen: Vec<MplpId> = chosen.map_or_else(all, <[MplpId]>::to_vec);
    if chosen.is_empty() {
        return Err(out_of_bounds("no step is approved: reject the plan instead"));
    }
    progress::check_selection(&plan.document, &chosen).map_err(|why| out_of_bounds(&why))?;
    // A step named twice is approved once, so its number of calls does not double.
    let approved = plan.document.steps.iter().filter(|step| chosen.contains(&step.step_id));
    let approved: Vec<MplpId> = approved.map(|step| step.step_id.clone()).collect();
    // The project's policy may have become stricter since the plan was submitted.
    let runs = approved.iter().filter_map(|step| plan.actions.get(step));
    let calls = runs.fold(0_i64, |sum, planned| sum.saturating_add(planned.calls_without_asking()));
    match calls <= most {
        true => Ok(approved),
        false => Err(out_of_bounds(&format!(
            "these steps are for {calls} calls, and one approval covers at most {most} here (plans.max_uses): approve \
             fewer steps, or reject the plan"
        ))),
    }
}

fn bounded(bounds: &Bounds, view: &AnswerView) -> Result<ApprovedExtent, NotCounted> {
    let asked = view.asked_for.as_ref();
    let asked = asked.ok_or_else(|| out_of_bounds("this can only be approved as shown, for one call"))?;
    let policy = &view.policy;
    let uses = bounds.uses.unwrap_or(policy.max_uses);
    let seconds = bounds.seconds.unwrap_or(view.decision.terms.allowance_s);
    if !(1..=policy.max_uses).contains(&uses) {
        return Err(out_of_bounds(&format!("an approval here covers 1 to {} calls", policy.max_uses)));
    }
    if !(1..=policy.max_seconds).contains(&seconds) {
        return Err(out_of_bounds(&format!("an approval here lasts 1 to {} seconds", policy.max_seconds)));
    }
    check_released(&view.decision, &bounds.released)?;
    let pattern = pattern(asked, bounds.released.clone())?;
    view.boundary.as_ref().map_or(Ok(()), |boundary| boundary.check(&pattern))?;
    let tally = Tally::new(&pattern, uses);
    Ok(ApprovedExtent::Bounded { pattern: Box::new(pattern), tally, seconds })
}

/// No argument of a high-risk irreversible action may be released.
fn check_released(decision: &Decision, released: &BTreeMap<String, Bound>) -> Result<(), NotCounted> {
    match decision.terms.fixes_arguments() && !released.is_empty() {
        true => Err(out_of_bounds("this cannot be undone and its risk is high: every argument stays as it was shown")),
        false => Ok(()),
    }
}

fn pattern(asked: &AskedFor, released: BTreeMap<String, Bound>) -> Result<Pattern, NotCounted> {
    Pattern::new(asked.what.clone(), asked.arguments.clone(), released, &asked.units)
        .map_err(|why| out_of_bounds(&why.to_string()))
}

/// Records the extent of an approval beyond the rendered request.
pub(super) fn record_grant(entry: DraftEntry, granted: &ApprovedExtent) -> DraftEntry {
    match granted {
        ApprovedExtent::Once => entry,
        ApprovedExtent::Bounded { pattern, tally, seconds } => {
            entry.open("uses", tally.uses).open("seconds", *seconds).hidden("pattern", json!(pattern))
        }
        ApprovedExtent::Steps(steps) => entry.open("steps", json!(steps)),
    }
}

fn out_of_bounds(why: &str) -> NotCounted {
    NotCounted::OutOfBounds(why.to_owned())
}
