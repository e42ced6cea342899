//! The plans of a session: each must match its digest in the chain.

use super::{Flaw, Wrong, chain::Walk, shape::read_unbounded};
use countersign_protocol::clarification::{DigestText, SubmittedPlan, signed};
use serde_json::Value;

/// The submitted plans, oldest first. The chain signs their digests and their changes.
pub(super) fn check(document: &Value, walk: &Walk<'_>) -> Result<Vec<SubmittedPlan>, Wrong> {
    let plans: Vec<SubmittedPlan> = read_unbounded(document)?;
    let (expected, found) = (walk.plans.len(), plans.len());
    for (at, (plan, (digest, _))) in plans.iter().zip(&walk.plans).enumerate() {
        check_plan(plan, digest).map_err(|wrong| wrong.under(&format!("[{at}]")))?;
    }
    if expected != found {
        return Err(Wrong::at("", Flaw::WrongPlans { expected, found }));
    }
    Ok(plans)
}

fn check_plan(plan: &SubmittedPlan, asked_about: &DigestText) -> Result<(), Wrong> {
    if plan.plan_digest != *asked_about {
        return Err(Wrong::at("plan_digest", Flaw::AnotherPlan));
    }
    if signed::plan_digest(&plan.plan_object)? != plan.plan_digest.0 {
        return Err(Wrong::at("plan_object", Flaw::PlanChanged));
    }
    Ok(())
}
