//! A plan as a person sees it, and the steps the person ticks.

use super::{form::Form, question_summary::pretty};
use crate::pages::{Author, Bounded, Detail, PlainLine, PlanAsked, Prose, QuestionError, StepAsked, StepRuns};
use countersign_engine::{
    Decision, Plan, PlannedAction, ProjectAt, TextAuthor, bounded::Pattern, held::JsonMember, mplp_views,
};
use countersign_protocol::mplp::{MplpId, Plan as PlanDocument, PlanStep};
use std::collections::BTreeMap;

type Actions = BTreeMap<MplpId, PlannedAction>;

/// The plan as this question shows it; `None` if a later question was raised about it.
pub(super) fn of(at: &ProjectAt, plan: &Plan, decision: &Decision) -> Option<PlanAsked> {
    let asked = plan.asked.as_ref()?;
    let target = decision.target.as_ref()?;
    if asked.confirm_id != mplp_views::confirm::confirm_id(decision) {
        return None;
    }
    Some(PlanAsked {
        path: path(at, &plan.id),
        title: asked.document.title.as_str().into(),
        objective: asked.document.objective.as_str().into(),
        role: PlainLine::cut(&target.requested_by_role, 200),
        reason: target.reason.as_deref().map(Prose::from),
        lasts_s: plan.lasts_s,
        steps: steps(&asked.document, &asked.actions, plan.approved.as_deref().filter(|_| decided(plan, decision))),
        changes: asked.changes.as_ref().map(|lines| lines.iter().map(|line| Prose::rendered(line)).collect()),
    })
}

pub(super) fn path(at: &ProjectAt, plan: &MplpId) -> String {
    format!("/plans/{}/{plan}", at.project.id)
}

/// Whether this decision approved the plan.
fn decided(plan: &Plan, decision: &Decision) -> bool {
    plan.confirm == Some(decision.key)
}

pub(super) fn steps(document: &PlanDocument, actions: &Actions, approved: Option<&[MplpId]>) -> Vec<StepAsked> {
    let one = |(at, step): (usize, &PlanStep)| StepAsked {
        id: step.step_id.to_string(),
        number: at + 1,
        description: step.description.as_str().into(),
        after: step.dependencies.iter().filter_map(|id| number(document, id)).collect(),
        role: step.agent_role.as_deref().map(|role| PlainLine::cut(role, 200)),
        runs: actions.get(&step.step_id).map(runs),
        chosen: true,
        approved: approved.map(|steps| steps.contains(&step.step_id)),
    };
    document.steps.iter().enumerate().map(one).collect()
}

/// The number of a step in its plan, starting at 1.
pub(super) fn number(document: &PlanDocument, id: &MplpId) -> Option<usize> {
    document.steps.iter().position(|step| step.step_id == *id).map(|at| at + 1)
}

fn runs(planned: &PlannedAction) -> StepRuns {
    StepRuns {
        shown: Prose::rendered(&planned.shown),
        words: author(planned),
        uses: planned.action.uses,
        asks_again: planned.asks_again,
        risk: planned.risk,
        irreversible: planned.irreversible,
        bounds: bounds(&planned.pattern),
        arguments: arguments(&planned.pattern),
    }
}

/// The author of a step's text: the owner, or the call itself.
pub(super) fn author(planned: &PlannedAction) -> Author {
    match planned.words {
        TextAuthor::Owner => Author::Service,
        TextAuthor::Agent => Author::Plan,
    }
}

pub(super) fn bounds(pattern: &Pattern) -> Vec<Bounded> {
    let one = |(name, bound): (&String, &_)| Bounded { name: PlainLine::cut(name, 200), bound: Clone::clone(bound) };
    pattern.released().iter().map(one).collect()
}

fn arguments(pattern: &Pattern) -> Vec<Detail> {
    let JsonMember::Object(members) = pattern.arguments().root() else { return Vec::new() };
    let one = |(name, member): &(String, JsonMember)| {
        // JSON values stay JSON; numbers of any length keep their digits.
        Detail { name: PlainLine::exact(name), value: pretty(member).into() }
    };
    members.iter().map(one).collect()
}

/// The ticked steps. A step without the steps it depends on would never run.
pub(super) fn chosen(plan: &PlanAsked, form: &Form) -> Result<Vec<MplpId>, QuestionError> {
    let ticked: Vec<&StepAsked> = plan.steps.iter().filter(|step| is_ticked(step, form)).collect();
    if ticked.is_empty() {
        return Err(QuestionError::NoStep);
    }
    for step in &ticked {
        let missing = step.after.iter().find(|needed| ticked.iter().all(|other| other.number != **needed));
        if let Some(needs) = missing {
            return Err(QuestionError::StepNeeds { step: step.number, needs: *needs });
        }
    }
    Ok(ticked.iter().filter_map(|step| MplpId::parse(&step.id).ok()).collect())
}

pub(super) fn is_ticked(step: &StepAsked, form: &Form) -> bool {
    form.field(&format!("step:{}", step.id)) == "yes"
}
