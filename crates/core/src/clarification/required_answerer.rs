//! Decides whether a person must answer a gap.

use super::rules::Finding;
use crate::decision::terms::policy_for;
use countersign_protocol::{clarification::Severity, project::ProjectDocument};
use serde_json::{Map, Value};

/// The rule's own setting; by default a person must answer a BLOCK on something irreversible.
pub(super) fn person(document: &ProjectDocument, plan: &Value, finding: &Finding) -> bool {
    let by_default = || {
        finding.severity == Severity::Block
            && (blocks_irreversible(document, finding) || is_about(document, plan, finding))
    };
    finding.person.unwrap_or_else(by_default)
}

/// The gap blocks an operation that runs an irreversible action.
fn blocks_irreversible(document: &ProjectDocument, finding: &Finding) -> bool {
    let operations = &document.clarification.operations;
    let mut actions = finding.blocked.iter().filter_map(|operation| operations.get(operation)).flatten();
    actions.any(|action| is_irreversible(document, action, None))
}

/// The gap concerns an irreversible step, or the plan as a whole with any irreversible step.
fn is_about(document: &ProjectDocument, plan: &Value, finding: &Finding) -> bool {
    let Some(Value::Object(actions)) = plan.get("actions") else { return false };
    let step = finding.pointer.strip_prefix("/actions/").and_then(|rest| rest.split('/').next());
    match step.and_then(|step| actions.get(step)) {
        Some(action) => runs_irreversible(document, action),
        None => actions.values().any(|action| runs_irreversible(document, action)),
    }
}

fn runs_irreversible(document: &ProjectDocument, action: &Value) -> bool {
    let empty = Map::new();
    let members = action.as_object().unwrap_or(&empty);
    let text = |name: &str| members.get(name).and_then(Value::as_str);
    is_irreversible(document, text("tool").unwrap_or_default(), text("route"))
}

/// An unknown action counts as irreversible.
pub fn is_irreversible(document: &ProjectDocument, action: &str, route: Option<&str>) -> bool {
    let by_route = document.routes.iter().find(|known| known.action == action).map(|known| known.id.as_str());
    policy_for(document, action, route.or(by_route)).is_none_or(|policy| policy.irreversible)
}

#[cfg(test)]
mod tests;
