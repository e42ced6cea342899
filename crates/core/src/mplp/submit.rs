//! Reads the actions of a plan's steps. Refuses actions that could never run or that run more than they disclose.

use super::{step_request, texts};
use crate::{
    bounded::{ActionTarget, Arguments, BadPattern, BadStep as BadArguments, Pattern, Units},
    decision::terms,
    held::{self, UnreadableRequest, shown},
    project::decisions::is_tool,
    project::undo,
    records::{PlannedAction, Point, StepTally, TextAuthor},
};
use countersign_protocol::{
    aaep::event::Risk,
    mplp::{MplpId, PlanSubmission, StepAction},
    project::{ActionPolicy, ProjectDocument, Route},
};
use std::collections::BTreeMap;

/// A step with an invalid action.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("step {number} ({step}): {why}")]
pub struct BadStep {
    /// Counted from 1, as displayed.
    pub number: usize,
    pub step: MplpId,
    pub why: BadAction,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadAction {
    #[error("an action has either tool or route")]
    NotOne,
    #[error("there is no route {0:?}: use the id of one that the project lists, or leave the action out")]
    NoRoute(String),
    #[error("calls by the route {0} need no approval: leave the action out, and make the call in its turn")]
    NotHeld(String),
    #[error("{0:?} cannot be a tool: its name is a letter or _, then letters, digits, _ . -")]
    NotATool(String),
    #[error("uses is {uses}, and a step is for 1 to {most} calls here (plans.max_uses)")]
    TooOften { uses: i64, most: i64 },
    #[error(
        "with this step one approval would cover {calls} calls, and it covers at most {most} here (plans.max_uses): \
         propose fewer calls, or several plans"
    )]
    TooMany { calls: i64, most: i64 },
    #[error("{0} cannot be undone and its risk is high, so every argument stays as it is shown: release none of them")]
    Releases(String),
    #[error("{0}")]
    Arguments(#[from] BadArguments),
    #[error("no call can match it: {0}")]
    Unreadable(#[from] UnreadableRequest),
    #[error("that request would not go by the route {0}: the project has another one for it, or none")]
    OtherRoute(String),
    #[error("no request can have this form: leave empty members out")]
    OtherForm,
    #[error("{0}")]
    Pattern(#[from] BadPattern),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("lasts_seconds must be 1 to {most} here")]
pub struct BadTime {
    pub most: i64,
}

/// The checked actions of the steps, with the descriptions shown to a person.
pub fn planned(
    document: &ProjectDocument,
    submission: &PlanSubmission,
) -> Result<BTreeMap<MplpId, PlannedAction>, BadStep> {
    let number = |step: &MplpId| submission.plan.steps.iter().position(|known| known.step_id == *step).unwrap_or(0) + 1;
    let one = |(step, action): (&MplpId, &StepAction)| match of_action(document, action) {
        Ok(planned) => Ok((step.clone(), planned)),
        Err(why) => Err(BadStep { number: number(step), step: step.clone(), why }),
    };
    let planned: BTreeMap<MplpId, PlannedAction> = submission.actions.iter().map(one).collect::<Result<_, _>>()?;
    check_total_uses(document, submission, &planned)?;
    Ok(planned)
}

/// Limits the calls that one approval of the plan covers to the project's maximum.
fn check_total_uses(
    document: &ProjectDocument,
    submission: &PlanSubmission,
    planned: &BTreeMap<MplpId, PlannedAction>,
) -> Result<(), BadStep> {
    let (mut calls, most) = (0_i64, document.plans.max_uses);
    for (at, step) in submission.plan.steps.iter().enumerate() {
        calls = calls.saturating_add(planned.get(&step.step_id).map_or(0, PlannedAction::calls_without_asking));
        if calls > most {
            let why = BadAction::TooMany { calls, most };
            return Err(BadStep { number: at + 1, step: step.step_id.clone(), why });
        }
    }
    Ok(())
}

/// The lifetime of an approval of the plan.
pub fn lifetime_s(document: &ProjectDocument, submission: &PlanSubmission) -> Result<i64, BadTime> {
    let policy = &document.plans;
    let wanted = submission.lasts_seconds.unwrap_or(policy.default_seconds.min(policy.max_seconds));
    match (1..=policy.max_seconds).contains(&wanted) {
        true => Ok(wanted),
        false => Err(BadTime { most: policy.max_seconds }),
    }
}

fn of_action(document: &ProjectDocument, action: &StepAction) -> Result<PlannedAction, BadAction> {
    let most = document.plans.max_uses;
    if !(1..=most).contains(&action.uses) {
        return Err(BadAction::TooOften { uses: action.uses, most });
    }
    match (&action.route, &action.tool) {
        (Some(id), None) => by_route(document, id, action),
        (None, Some(name)) => by_tool(document, name, action),
        _ => Err(BadAction::NotOne),
    }
}

/// A call through the gateway: described by the route's owner, regardless of the agent's description.
fn by_route(document: &ProjectDocument, id: &str, action: &StepAction) -> Result<PlannedAction, BadAction> {
    let named = |route: &&Route| route.id == id;
    let route = document.routes.iter().find(named).ok_or_else(|| BadAction::NoRoute(shown(id, 64)))?;
    if !held::must_be_confirmed(document, route) {
        return Err(BadAction::NotHeld(route.id.clone()));
    }
    let policy = terms::policy_of_route(document, route);
    check_released(&route.action, action, Some(&policy))?;
    let arguments = Arguments::of_step(route, &action.arguments)?;
    step_request::check(document, route, &arguments)?;
    let units = Units::of_route(route, &arguments.fields());
    let what = ActionTarget::Route { id: route.id.clone() };
    let pattern = Pattern::new(what, arguments, action.released.clone(), &units)?;
    let shown = texts::of_route(route, &pattern)?;
    let rules = terms::rules(document, &route.action, Some(&route.id));
    let told =
        CallKindTerms { point: Point::Gateway, tool: held::announced(route), shown, words: TextAuthor::Owner, rules };
    let planned = planned_action(document, action, Some(&policy), pattern, told);
    Ok(PlannedAction { asks_again: planned.asks_again || undo::is_held_for_undo(document, route), ..planned })
}

/// A call by the agent itself: only the agent describes it.
fn by_tool(document: &ProjectDocument, name: &str, action: &StepAction) -> Result<PlannedAction, BadAction> {
    if !is_tool(name) {
        return Err(BadAction::NotATool(shown(name, 64)));
    }
    let policy = terms::policy_of(document, name);
    check_released(name, action, policy)?;
    let arguments = Arguments::of_tool(&action.arguments);
    let what = ActionTarget::Tool { name: name.to_owned() };
    let pattern = Pattern::new(what, arguments, action.released.clone(), &Units::of_tool())?;
    let shown = texts::of_tool(name, &pattern);
    let rules = terms::rules(document, name, None);
    let told =
        CallKindTerms { point: Point::AgentClaimed, tool: name.to_owned(), shown, words: TextAuthor::Agent, rules };
    Ok(planned_action(document, action, policy, pattern, told))
}

/// An irreversible action of high risk, and so every unknown action, cannot have released arguments.
fn check_released(name: &str, action: &StepAction, policy: Option<&ActionPolicy>) -> Result<(), BadAction> {
    let worst = terms::is_irreversible_and_high_risk(is_irreversible(policy), risk(policy));
    if worst && !action.released.is_empty() { Err(BadAction::Releases(name.to_owned())) } else { Ok(()) }
}

/// The properties that depend on the kind of call.
struct CallKindTerms {
    point: Point,
    tool: String,
    shown: String,
    words: TextAuthor,
    rules: countersign_protocol::hash::Digest,
}

fn planned_action(
    document: &ProjectDocument,
    action: &StepAction,
    policy: Option<&ActionPolicy>,
    pattern: Pattern,
    told: CallKindTerms,
) -> PlannedAction {
    PlannedAction {
        action: action.clone(),
        pattern,
        point: told.point,
        tool: told.tool,
        rules: told.rules,
        risk: risk(policy),
        irreversible: is_irreversible(policy),
        lease_s: policy.and_then(|policy| policy.lease_seconds).unwrap_or(document.decisions.lease_seconds),
        asks_again: document.plans.ask_again_from.needs_approval(risk(policy)),
        shown: told.shown,
        words: told.words,
        tally: StepTally::default(),
    }
}

fn risk(policy: Option<&ActionPolicy>) -> Risk {
    policy.map_or(Risk::High, |policy| policy.risk)
}

fn is_irreversible(policy: Option<&ActionPolicy>) -> bool {
    policy.is_none_or(terms::is_irreversible)
}
