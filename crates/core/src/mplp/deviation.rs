//! Deviations: tells the person how a call differs from the approved plan.

use super::{diff, progress, texts::said};
use crate::{
    decision::grant::AskedFor,
    held::shortened,
    records::{Confirmation, Plan},
};
use serde_json::{Map, json};

/// The context member of the confirmation request that holds the lines.
pub const MEMBER: &str = "plan_difference";
/// Leaves room for the confirmation request itself (AAEP 3.7).
const MAX_LINES: usize = 8;
const MAX_TEXT: usize = 200;

/// Adds to a confirmation request how the call differs from the nearest step of the running plans. Adds nothing if no
/// plan has a step with this action.
pub fn mark(question: &mut Confirmation, plans: &[Plan], call: &AskedFor) {
    let runs = plans.iter().filter(|plan| progress::is_running(plan));
    let nearest =
        runs.filter_map(|plan| Some((plan, diff::deviation(plan, &call.what, &call.arguments, &call.units)?)));
    // A call that fits a step but still needs approval exceeds the project's risk threshold: no deviation.
    let differs = nearest.filter(|(_, (_, lines))| !lines.is_empty());
    let Some((plan, (step, lines))) = differs.min_by_key(|(_, (_, lines))| lines.len()) else { return };
    let lines: Vec<String> = lines.iter().take(MAX_LINES).map(|line| shortened(line, MAX_TEXT)).collect();
    let title = said(&plan.document.title, MAX_TEXT);
    let told = format!("This deviates from the approved plan {title}: {}", lines.join("; "));
    question.notes.push(format!("{told}."));
    let context = question.extra_context.get_or_insert_with(Map::new);
    context.insert(MEMBER.into(), json!({ "plan_id": plan.id, "step_id": step, "lines": lines }));
}
