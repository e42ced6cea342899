//! Differences between two proposals of a plan, as lines of text, and deviations of a call from the plan.

use super::texts;
use crate::{
    bounded::{ActionTarget, Arguments, Units},
    held::{shortened, shown},
    records::{AskedPlan, Plan, PlannedAction, TextAuthor},
};
use countersign_protocol::{
    bounds::Bound,
    mplp::{MplpId, Plan as PlanDocument, PlanStatus, PlanStep, StepStatus},
    question::{ArgumentDifference, Deviation, Was},
};
use std::collections::{BTreeMap, BTreeSet};

/// The most characters shown of a text.
const TEXT: usize = 200;
/// The characters shown before the first difference of two long texts.
const LEAD: usize = 40;
/// The most characters shown of a step's call.
const RUNS: usize = 400;

/// A plan as a confirmation request shows it.
pub type PlanView<'a> = (&'a PlanDocument, &'a BTreeMap<MplpId, PlannedAction>);

/// The changes between two plans, one per line. Steps are matched by id; their status is ignored.
pub fn changes(before: PlanView<'_>, after: PlanView<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(reworded("The title", &before.0.title, &after.0.title));
    lines.extend(reworded("The objective", &before.0.objective, &after.0.objective));
    if before.0.context_id != after.0.context_id {
        lines.push(format!("The context was {} and is {}", before.0.context_id, after.0.context_id));
    }
    lines.extend(before.0.steps.iter().enumerate().filter_map(|(at, step)| removed(at, step, before, after.0)));
    lines.extend(reordered(before.0, after.0));
    for (at, step) in after.0.steps.iter().enumerate() {
        let known = before.0.steps.iter().find(|known| known.step_id == step.step_id);
        match known {
            Some(known) => lines.extend(step_changes(at + 1, (known, before), (step, after))),
            None => lines.push(added(at + 1, step, after)),
        }
    }
    lines
}

/// The changes since the last confirmation request about the plan.
pub fn changes_since(asked: &AskedPlan, plan: &Plan) -> Vec<String> {
    let mut lines = changes((&asked.document, &asked.actions), (&plan.document, &plan.actions));
    if asked.lasts_s != plan.lasts_s {
        lines.push(format!("An approval lasts {} seconds instead of {}", plan.lasts_s, asked.lasts_s));
    }
    lines
}

/// The nearest step with the same action, and the reasons why the call does not match it.
pub fn deviation(
    plan: &Plan,
    what: &ActionTarget,
    call: &Arguments,
    units: &Units,
) -> Option<(MplpId, Vec<Deviation>)> {
    let steps = plan.document.steps.iter();
    let planned = steps.filter_map(|step| Some((step, plan.actions.get(&step.step_id)?)));
    let same = planned.filter(|(_, planned)| planned.pattern.target() == what);
    let compared =
        same.map(|(step, planned)| (step, differences(planned, call, units), blocking_reasons(plan, step, planned)));
    let (step, differences, hindrances) =
        compared.min_by_key(|(_, differences, hindrances)| (differences.len(), hindrances.len()))?;
    Some((step.step_id.clone(), [differences, hindrances].concat()))
}

fn differences(planned: &PlannedAction, call: &Arguments, units: &Units) -> Vec<Deviation> {
    planned.pattern.fit(call, units).err().unwrap_or_default().into_iter().map(Deviation::Argument).collect()
}

/// Why even the planned call would not run.
fn blocking_reasons(plan: &Plan, step: &PlanStep, planned: &PlannedAction) -> Vec<Deviation> {
    let mut reasons: Vec<Deviation> = not_running(plan, step).into_iter().collect();
    let (tally, uses) = (planned.tally, planned.action.uses);
    if tally.under_way + tally.done + tally.lost >= uses {
        reasons.push(Deviation::UsesClaimed { uses });
    }
    reasons.extend(unmet(&plan.document, step));
    if planned.asks_again {
        reasons.push(Deviation::AsksAgain);
    }
    reasons
}

fn not_running(plan: &Plan, step: &PlanStep) -> Option<Deviation> {
    match (plan.document.status, step.status) {
        (PlanStatus::Approved | PlanStatus::InProgress, StepStatus::Pending | StepStatus::InProgress) => None,
        (PlanStatus::Approved | PlanStatus::InProgress, status) => Some(Deviation::StepStatus { status }),
        (status, _) => Some(Deviation::PlanStatus { status }),
    }
}

fn unmet(document: &PlanDocument, step: &PlanStep) -> impl Iterator<Item = Deviation> {
    let needed = document.steps.iter().enumerate().filter(|(_, other)| step.dependencies.contains(&other.step_id));
    let open = needed.filter(|(_, other)| other.status != StepStatus::Completed);
    open.map(|(at, _)| Deviation::DependsOn { step: at + 1 })
}

fn removed(at: usize, step: &PlanStep, before: PlanView<'_>, after: &PlanDocument) -> Option<String> {
    let stays = after.steps.iter().any(|other| other.step_id == step.step_id);
    let ran =
        before.1.get(&step.step_id).map(|planned| format!(", which ran {}", runs(planned, RUNS))).unwrap_or_default();
    (!stays).then(|| format!("The former step {} was removed: {}{ran}", at + 1, texts::said(&step.description, TEXT)))
}

fn added(number: usize, step: &PlanStep, after: PlanView<'_>) -> String {
    let description = texts::said(&step.description, TEXT);
    let runs =
        after.1.get(&step.step_id).map_or_else(String::new, |planned| format!(", which runs {}", runs(planned, RUNS)));
    let needs = if step.dependencies.is_empty() { String::new() } else { format!(", after {}", steps(after.0, step)) };
    format!("Step {number} is new: {description}{runs}{needs}")
}

/// Compares only steps that both plans have.
fn reordered(before: &PlanDocument, after: &PlanDocument) -> Option<String> {
    let was_at = |id: &MplpId| before.steps.iter().position(|step| step.step_id == *id);
    let now: Vec<usize> = after.steps.iter().filter_map(|step| was_at(&step.step_id)).collect();
    let numbers: Vec<String> = now.iter().map(|at| (at + 1).to_string()).collect();
    (!now.is_sorted())
        .then(|| format!("The steps are in another order, by their former numbers: {}", numbers.join(", ")))
}

fn step_changes(
    number: usize,
    (was, before): (&PlanStep, PlanView<'_>),
    (is, after): (&PlanStep, PlanView<'_>),
) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(reworded("its description", &was.description, &is.description));
    let role =
        |step: &PlanStep| step.agent_role.clone().map_or_else(|| "nobody's".into(), |role| texts::said(&role, TEXT));
    if was.agent_role != is.agent_role {
        lines.push(format!("its role was {} and is {}", role(was), role(is)));
    }
    let index = |step: &PlanStep| step.order_index.map_or_else(|| "none".into(), |index| index.to_string());
    if was.order_index != is.order_index {
        lines.push(format!("its order_index was {} and is {}", index(was), index(is)));
    }
    let needed = |step: &PlanStep| step.dependencies.iter().cloned().collect::<BTreeSet<MplpId>>();
    if needed(was) != needed(is) {
        lines.push(format!("it depended on {} and depends on {}", steps(before.0, was), steps(after.0, is)));
    }
    lines.extend(action_changes(before.1.get(&was.step_id), after.1.get(&is.step_id)));
    lines.into_iter().map(|line| format!("Step {number}: {line}")).collect()
}

/// The dependencies of a step, as step numbers of its own plan.
fn steps(document: &PlanDocument, step: &PlanStep) -> String {
    let needed = document.steps.iter().enumerate().filter(|(_, other)| step.dependencies.contains(&other.step_id));
    let numbers: Vec<String> = needed.map(|(at, _)| format!("step {}", at + 1)).collect();
    if numbers.is_empty() { "nothing".into() } else { numbers.join(" and ") }
}

fn action_changes(was: Option<&PlannedAction>, is: Option<&PlannedAction>) -> Vec<String> {
    match (was, is) {
        (None, None) => Vec::new(),
        (None, Some(is)) => vec![format!("it ran nothing and now runs {}", runs(is, RUNS))],
        (Some(was), None) => vec![format!("it ran {} and now runs nothing", runs(was, RUNS))],
        (Some(was), Some(is)) if was.pattern.target() != is.pattern.target() => {
            vec![format!("it ran {} and now runs {}", runs(was, RUNS), runs(is, RUNS))]
        }
        (Some(was), Some(is)) => same_action_changes(was, is),
    }
}

fn same_action_changes(was: &PlannedAction, is: &PlannedAction) -> Vec<String> {
    let mut lines = argument_changes(was, is);
    lines.extend(released_changes(was, is));
    if was.action.uses != is.action.uses {
        lines.push(format!("its uses went from {} to {}", was.action.uses, is.action.uses));
    }
    match (was.asks_again, is.asks_again) {
        (true, false) => lines.push("each of its calls needed approval and now runs without asking".into()),
        (false, true) => lines.push("each of its calls now needs approval".into()),
        _ => {}
    }
    // The same call described differently: the owner's action table has changed.
    if lines.is_empty() && was.shown != is.shown {
        let (was, is) = differing_excerpts(&was.shown, &is.shown);
        lines.push(format!("the owner's words for it were {was} and are {is}"));
    }
    if was.rules != is.rules {
        lines.push("the project's rules for it have changed".into());
    }
    lines
}

/// Skips places that were released before: `released_changes` reports them with their bounds.
fn argument_changes(was: &PlannedAction, is: &PlannedAction) -> Vec<String> {
    let found = was.pattern.fit(is.pattern.arguments(), &Units::of_tool()).err().unwrap_or_default();
    found.iter().filter_map(argument_change).collect()
}

fn argument_change(difference: &ArgumentDifference) -> Option<String> {
    let name = &difference.name;
    match (&difference.is, &difference.was) {
        (_, Was::Within(_)) => None,
        (None, _) => Some(format!("{name} is gone")),
        (Some(is), Was::Nothing) => Some(format!("{name} is new: {is}")),
        (Some(is), Was::Exactly(was)) if is == was => Some(difference.text("en")),
        (Some(is), Was::Exactly(was)) => Some(format!("{name} was {was} and is {is}")),
    }
}

fn released_changes(was: &PlannedAction, is: &PlannedAction) -> Vec<String> {
    let (before, after) = (was.pattern.released(), is.pattern.released());
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let change = |name: &String| {
        let shown = shown(name, TEXT);
        match (before.get(name), after.get(name)) {
            (None, Some(bound)) => Some(format!("{shown} may now differ: {}", texts::bound(bound))),
            (Some(bound), None) => Some(format!(
                "{shown} may no longer differ: it was {} and is {}",
                texts::bound(bound),
                texts::value(is.pattern.arguments(), name)
            )),
            (Some(was), Some(is)) if was != is => Some(format!(
                "the bound of {shown} is {}: it was {} and is {}",
                bound_change(was, is),
                texts::bound(was),
                texts::bound(is)
            )),
            _ => None,
        }
    };
    names.into_iter().filter_map(change).collect()
}

fn bound_change(was: &Bound, is: &Bound) -> &'static str {
    match (is_within(was, is), is_within(is, was)) {
        (true, false) => "wider",
        (false, true) => "narrower",
        (true, true) => "written differently",
        (false, false) => "another one",
    }
}

/// Whether the outer bound allows every value that the inner bound allows.
fn is_within(inner: &Bound, outer: &Bound) -> bool {
    match (inner, outer) {
        (
            Bound::Amount { least, most, sum, unit, unit_from },
            Bound::Amount {
                least: outer_least,
                most: outer_most,
                sum: outer_sum,
                unit: outer_unit,
                unit_from: outer_from,
            },
        ) => {
            let above = outer_least.is_none_or(|outer| least.is_some_and(|least| least >= outer));
            let below = outer_sum.is_none_or(|outer| sum.is_some_and(|sum| sum <= outer));
            above && most <= outer_most && below && unit == outer_unit && unit_from == outer_from
        }
        (Bound::OneOf(inner), Bound::OneOf(outer)) => inner.iter().all(|choice| outer.contains(choice)),
        (Bound::Text { most }, Bound::Text { most: outer }) => most <= outer,
        _ => false,
    }
}

/// The call of a step, its number of uses, and the source of its description.
pub(super) fn runs(planned: &PlannedAction, most: usize) -> String {
    let times = match planned.action.uses {
        1 => "once".to_owned(),
        uses => format!("up to {uses} times"),
    };
    let asks = if planned.asks_again { ", asking each time" } else { "" };
    let whose = match planned.words {
        TextAuthor::Owner => "in the owner's words",
        TextAuthor::Agent => "as the agent calls it",
    };
    format!("{times}{asks}, {whose}: {}", shortened(&planned.shown, most))
}

fn reworded(what: &str, was: &str, is: &str) -> Option<String> {
    let (shown_was, shown_is) = differing_excerpts(was, is);
    (was != is).then(|| format!("{what} was {shown_was} and is {shown_is}"))
}

/// Two texts with the difference visible: long ones start shortly before it.
fn differing_excerpts(was: &str, is: &str) -> (String, String) {
    let same = was.chars().zip(is.chars()).take_while(|(was, is)| was == is).count();
    if same < TEXT / 2 {
        return (texts::said(was, TEXT), texts::said(is, TEXT));
    }
    let from = |text: &str| format!("…{}", text.chars().skip(same - LEAD).collect::<String>());
    (texts::said(&from(was), TEXT), texts::said(&from(is), TEXT))
}
