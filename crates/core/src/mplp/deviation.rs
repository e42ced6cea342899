//! A call that an approved plan does not cover: the person who is asked reads how it differs.

use super::diff;
use crate::{
    decision::grant::AskedFor,
    held::shown,
    records::{Confirmation, Plan},
};
use serde_json::{Map, json};

/// Where the lines stand in the question's context.
pub const MEMBER: &str = "plan_difference";
const MAX_LINES: usize = 20;
const MAX_TEXT: usize = 200;

/// Says in a question how the call differs from the nearest step of the plans that run. Nothing is said where none of
/// them has such an action.
pub fn mark(question: &mut Confirmation, plans: &[Plan], call: &AskedFor) {
    let nearest = plans.iter().filter_map(|plan| Some((plan, diff::deviation(plan, &call.what, &call.arguments, &call.units)?)));
    let Some((plan, (step, lines))) = nearest.min_by_key(|(_, (_, lines))| lines.len()) else { return };
    let lines: Vec<String> = lines.iter().take(MAX_LINES).map(|line| shown(line, MAX_TEXT)).collect();
    let title = shown(&plan.document.title, MAX_TEXT);
    let told = format!("This is not what the approved plan “{title}” says: {}", lines.join("; "));
    for text in [&mut question.summaries.normal, &mut question.summaries.detailed] {
        *text = Some(match text.take() {
            Some(text) => format!("{told}\n{text}"),
            None => told.clone(),
        });
    }
    let context = question.extra_context.get_or_insert_with(Map::new);
    context.insert(MEMBER.into(), json!({ "plan_id": plan.id, "step_id": step, "lines": lines }));
}
