//! Validates the clarification section of a document. Its own test cases must pass.

use super::check::Problems;
use crate::clarification::rules::Rules;
use countersign_protocol::{
    clarification::{ClarificationPolicy, PublicKey},
    project::ProjectDocument,
};
use std::collections::HashSet;

const DAY_S: i64 = 86_400;
const MAX_NAME: usize = 128;

pub(super) fn check(document: &ProjectDocument, found: &mut Problems) {
    let policy = &document.clarification;
    let at = "clarification";
    found.demand((60..=30 * DAY_S).contains(&policy.session_seconds), at, "session_seconds must be 60 to 2592000");
    let named = policy.agent_id.as_deref().is_none_or(is_name);
    found.demand(named, at, "agent_id must be 1 to 128 visible ASCII characters");
    check_agents(policy, found);
    check_operations(document, found);
    check_rules(policy, found);
}

fn check_agents(policy: &ClarificationPolicy, found: &mut Problems) {
    for (agent, key) in &policy.agents {
        let at = format!("clarification.agents.{agent}");
        found.demand(is_name(agent), &at, "an agent's id must be 1 to 128 visible ASCII characters");
        let why = key.parse::<PublicKey>().err().map(|why| format!("the key {why}"));
        found.demand(why.is_none(), &at, why.as_deref().unwrap_or_default());
    }
}

/// An unknown action name would leave the intended action unblocked.
fn check_operations(document: &ProjectDocument, found: &mut Problems) {
    let offered = document.scopes.iter().flat_map(|scope| &scope.allows);
    let routed = document.routes.iter().map(|route| &route.action);
    let listed = document.actions.iter().map(|entry| &entry.name);
    let known: HashSet<&String> = offered.chain(routed).chain(listed).collect();
    for (operation, actions) in &document.clarification.operations {
        let at = format!("clarification.operations.{}", operation.as_str());
        for action in actions {
            let why = format!("{action:?} is an action of no scope, route or entry in actions");
            found.demand(known.contains(action), &at, &why);
        }
    }
}

fn check_rules(policy: &ClarificationPolicy, found: &mut Problems) {
    for bad in Rules::problems(policy) {
        let at = policy.rules.iter().position(|rule| rule.id == bad.rule);
        let at = at.map_or("clarification.rules".to_owned(), |n| format!("clarification.rules[{n}]"));
        found.demand(false, &at, &bad.to_string());
    }
    let Ok(rules) = Rules::compile(policy) else { return };
    for (n, case) in policy.cases.iter().enumerate() {
        let failed = rules.run_case(case).err().map(|failed| failed.to_string());
        found.demand(failed.is_none(), &format!("clarification.cases[{n}]"), failed.as_deref().unwrap_or_default());
    }
}

fn is_name(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_graphic())
}

#[cfg(test)]
mod tests;
