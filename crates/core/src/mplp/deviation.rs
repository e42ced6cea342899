//! A call that an approved plan does not cover: the person who is asked reads how it differs.

use super::{diff, progress, words::said};
use crate::{
    decision::grant::AskedFor,
    held::shortened,
    records::{Confirmation, Plan},
};
use serde_json::{Map, json};

/// Where the lines stand in the question's context.
pub const MEMBER: &str = "plan_difference";
/// As many as leave room for the question itself (AAEP 3.7).
const MAX_LINES: usize = 8;
const MAX_TEXT: usize = 200;

/// Says in a question how the call differs from the nearest step of the plans that run. Nothing is said where none of
/// them has such an action.
pub fn mark(question: &mut Confirmation, plans: &[Plan], call: &AskedFor) {
    let runs = plans.iter().filter(|plan| progress::is_running(plan));
    let nearest =
        runs.filter_map(|plan| Some((plan, diff::deviation(plan, &call.what, &call.arguments, &call.units)?)));
    // What fits a step and is asked all the same is above the project's line of risk: no difference to tell.
    let differs = nearest.filter(|(_, (_, lines))| !lines.is_empty());
    let Some((plan, (step, lines))) = differs.min_by_key(|(_, (_, lines))| lines.len()) else { return };
    let lines: Vec<String> = lines.iter().take(MAX_LINES).map(|line| shortened(line, MAX_TEXT)).collect();
    let title = said(&plan.document.title, MAX_TEXT);
    let told = format!("This is not what the approved plan {title} says: {}", lines.join("; "));
    question.notes.push(format!("{told}."));
    let context = question.extra_context.get_or_insert_with(Map::new);
    context.insert(MEMBER.into(), json!({ "plan_id": plan.id, "step_id": step, "lines": lines }));
}
