//! Deviations: tells the person how a call differs from the approved plan.

use super::{diff, progress, texts::said};
use crate::{decision::grant::AskedFor, held::shortened, records::Plan};
use countersign_protocol::question::PlanDeviation;

/// Leaves room for the confirmation request itself (AAEP 3.7).
const MAX_LINES: usize = 8;
const MAX_TEXT: usize = 200;

/// The deviation of a call from the nearest step of the running plans; none if no plan has a step with this action.
pub fn of(plans: &[Plan], call: &AskedFor) -> Option<PlanDeviation> {
    let runs = plans.iter().filter(|plan| progress::is_running(plan));
    let nearest =
        runs.filter_map(|plan| Some((plan, diff::deviation(plan, &call.what, &call.arguments, &call.units)?)));
    // A call that fits a step but still needs approval exceeds the project's risk threshold: no deviation.
    let differs = nearest.filter(|(_, (_, deviations))| !deviations.is_empty());
    let (plan, (step_id, mut deviations)) = differs.min_by_key(|(_, (_, deviations))| deviations.len())?;
    deviations.truncate(MAX_LINES);
    let plan_title = said(&plan.document.title, MAX_TEXT);
    Some(PlanDeviation { plan_id: plan.id.clone(), plan_title, step_id, deviations })
}

/// One line of limited length per deviation.
pub fn lines(deviation: &PlanDeviation, language: &str) -> Vec<String> {
    deviation.lines(language).iter().map(|line| shortened(line, MAX_TEXT)).collect()
}
