//! An open allowance, as people read it.

use super::{plan_steps, question_summary};
use crate::pages::{Author, OpenStandingApproval, Prose, SumLeft};
use countersign_engine::{
    Allowance, Decision, Plan, ProjectAt, TextAuthor,
    bounded::{ActionTarget, Sum},
    mplp_views::allowance,
};

/// An allowance with its decision and, for a step, its plan.
pub(super) fn of(
    at: &ProjectAt,
    allowance: &Allowance,
    decision: &Decision,
    plan: Option<&Plan>,
) -> OpenStandingApproval {
    let step = allowance.step.as_ref().zip(plan);
    let planned = step.and_then(|(of, plan)| plan.actions.get(&of.step));
    let (what, words): (Prose, Author) = match planned {
        Some(planned) => (Prose::rendered(&planned.shown), plan_steps::author(planned)),
        None => itself(allowance, decision),
    };
    let sum = |(name, sum): (&String, &Sum)| SumLeft {
        name: name.as_str().into(),
        left: sum.remaining().to_string(),
        limit: sum.limit.to_string(),
        unit: sum.unit.as_str().into(),
    };
    OpenStandingApproval {
        id: allowance::id(allowance),
        project: at.project.id.to_string(),
        step: step.and_then(|(of, plan)| plan_steps::number(&plan.document, &of.step)),
        what,
        words,
        uses: allowance.tally.uses,
        used: allowance.tally.used,
        bounds: allowance.pattern.as_ref().map(plan_steps::bounds).unwrap_or_default(),
        sums: allowance.tally.sums.iter().map(sum).collect(),
        until: allowance.until,
        typed: String::new(),
    }
}

/// The owner's text, or the call itself: an agent's text about its own call does not prove which call runs.
fn itself(allowance: &Allowance, decision: &Decision) -> (Prose, Author) {
    match (decision.words, &allowance.pattern) {
        (TextAuthor::Owner, _) => (Prose::rendered(question_summary::headline(decision)), Author::Service),
        (TextAuthor::Agent, Some(pattern)) => {
            let (ActionTarget::Tool { name } | ActionTarget::Route { id: name }) = pattern.target();
            (format!("{name} {}", pattern.arguments().compact()).into(), Author::Plan)
        }
        (TextAuthor::Agent, None) => (question_summary::headline(decision).into(), Author::Agent),
    }
}
