//! The plans of a session: each is the one that the chain says was asked about.

use super::{
    Flaw, Wrong,
    chain::{Walk, in_order},
    shape::read_unbounded,
};
use countersign_protocol::clarification::{SubmittedPlan, signed};
use serde_json::Value;

/// The plans as they were submitted, oldest first.
///
/// What is signed is the digests and when a plan took the place of another. `submitted_at` is not: it can only be
/// refused where it is later than what followed.
pub(super) fn check(document: &Value, walk: &Walk<'_>) -> Result<Vec<SubmittedPlan>, Wrong> {
    let plans: Vec<SubmittedPlan> = read_unbounded(document)?;
    let (expected, found) = (walk.plans.len(), plans.len());
    for (at, (plan, (digest, since))) in plans.iter().zip(&walk.plans).enumerate() {
        let began = since.as_ref().or_else(|| walk.rounds.first().map(|first| &first.round.ask_timestamp));
        one(plan, digest, began).map_err(|wrong| wrong.under(&format!("[{at}]")))?;
    }
    if expected != found {
        return Err(Wrong::at("", Flaw::WrongPlans { expected, found }));
    }
    Ok(plans)
}

fn one(
    plan: &SubmittedPlan,
    asked_about: &signed::DigestText,
    began: Option<&countersign_protocol::clarification::Stamp>,
) -> Result<(), Wrong> {
    if plan.plan_digest != *asked_about {
        return Err(Wrong::at("plan_digest", Flaw::AnotherPlan));
    }
    if signed::plan_digest(&plan.plan_object)? != plan.plan_digest.0 {
        return Err(Wrong::at("plan_object", Flaw::PlanChanged));
    }
    began.map_or(Ok(()), |began| in_order(&plan.submitted_at, began, "submitted_at"))
}
