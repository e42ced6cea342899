//! Checks that the steps of a plan form an acyclic graph.

use super::{BadDocument, MplpId, PlanStep};
use std::collections::BTreeMap;

pub(super) fn check(steps: &[PlanStep]) -> Result<(), BadDocument> {
    let mut open: BTreeMap<&MplpId, &PlanStep> = BTreeMap::new();
    for (at, step) in steps.iter().enumerate() {
        if open.insert(&step.step_id, step).is_some() {
            return Err(BadDocument::new(format!("steps[{at}].step_id"), "occurs twice: give each step its own id"));
        }
    }
    for (at, step) in steps.iter().enumerate() {
        if let Some(unknown) = step.dependencies.iter().position(|id| !open.contains_key(id)) {
            let member = format!("steps[{at}].dependencies[{unknown}]");
            return Err(BadDocument::new(member, "must be the step_id of a step of this plan"));
        }
    }
    remove_runnable(&mut open);
    if open.is_empty() { Ok(()) } else { Err(BadDocument::new("steps", "depend on one another in a circle")) }
}

/// Repeatedly removes every step without remaining dependencies. If a round removes none, the remaining steps contain a
/// cycle.
fn remove_runnable(open: &mut BTreeMap<&MplpId, &PlanStep>) {
    loop {
        let waits = |step: &PlanStep| step.dependencies.iter().any(|id| open.contains_key(id));
        let ready: Vec<MplpId> = open.values().filter(|step| !waits(step)).map(|step| step.step_id.clone()).collect();
        if ready.is_empty() {
            return;
        }
        for id in &ready {
            open.remove(id);
        }
    }
}
