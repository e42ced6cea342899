//! A plan as it is put before a person, and the steps that the person ticks.

use super::{asked::pretty, form::Form};
use crate::pages::{Author, Bounded, Detail, Line, PlanAsked, Prose, QuestionError, StepAsked, StepRuns};
use countersign_engine::{Decision, Plan, Planned, ProjectAt, Words, bounded::Pattern, held::Member, mplp_views};
use countersign_protocol::mplp::{MplpId, Plan as PlanDocument, Step};
use std::collections::BTreeMap;

type Actions = BTreeMap<MplpId, Planned>;

/// The plan as this question shows it; none if another question was asked about it since.
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
        role: Line::cut(&target.requested_by_role, 200),
        reason: target.reason.as_deref().map(Prose::from),
        lasts_s: plan.lasts_s,
        steps: steps(&asked.document, &asked.actions, plan.approved.as_deref().filter(|_| decided(plan, decision))),
        changes: asked.changes.as_ref().map(|lines| lines.iter().map(|line| Prose::rendered(line)).collect()),
    })
}

/// Where a plan's own page is.
pub(super) fn path(at: &ProjectAt, plan: &MplpId) -> String {
    format!("/plans/{}/{plan}", at.project.id)
}

/// Whether what was approved of the plan was approved by this decision.
fn decided(plan: &Plan, decision: &Decision) -> bool {
    plan.confirm == Some(decision.key)
}

pub(super) fn steps(document: &PlanDocument, actions: &Actions, approved: Option<&[MplpId]>) -> Vec<StepAsked> {
    let one = |(at, step): (usize, &Step)| StepAsked {
        id: step.step_id.to_string(),
        number: at + 1,
        description: step.description.as_str().into(),
        after: step.dependencies.iter().filter_map(|id| number(document, id)).collect(),
        role: step.agent_role.as_deref().map(|role| Line::cut(role, 200)),
        runs: actions.get(&step.step_id).map(runs),
        chosen: true,
        approved: approved.map(|steps| steps.contains(&step.step_id)),
    };
    document.steps.iter().enumerate().map(one).collect()
}

/// A step's place in its plan, as people count.
pub(super) fn number(document: &PlanDocument, id: &MplpId) -> Option<usize> {
    document.steps.iter().position(|step| step.step_id == *id).map(|at| at + 1)
}

fn runs(planned: &Planned) -> StepRuns {
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

/// Whose words say what a step runs: the owner's, or nobody's but the call's own.
pub(super) fn author(planned: &Planned) -> Author {
    match planned.words {
        Words::Owner => Author::Service,
        Words::Agent => Author::Plan,
    }
}

pub(super) fn bounds(pattern: &Pattern) -> Vec<Bounded> {
    let one = |(name, bound): (&String, &_)| Bounded { name: Line::cut(name, 200), bound: Clone::clone(bound) };
    pattern.released().iter().map(one).collect()
}

fn arguments(pattern: &Pattern) -> Vec<Detail> {
    let Member::Object(members) = pattern.arguments().root() else { return Vec::new() };
    let one = |(name, member): &(String, Member)| {
        // What is written as JSON is read as JSON; numbers of any length stay as they are written.
        Detail { name: Line::exact(name), value: pretty(member).into() }
    };
    members.iter().map(one).collect()
}

/// The steps that are ticked. A step without one that it depends on would never run.
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
