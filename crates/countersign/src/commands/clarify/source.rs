//! The rules to look with: those of a file, or the built-in ones.

use crate::failure::Failure;
use countersign_protocol::clarification::ClarificationPolicy;
use countersign_server::{admin::clarification_rules::Rules, config::clarification_file};
use std::path::Path;

/// What a file says; without one, what every project begins with.
pub(super) fn policy(file: Option<&Path>) -> Result<ClarificationPolicy, Failure> {
    Ok(file.map(clarification_file::read).transpose()?.unwrap_or_default())
}

/// The rules ready to look, or everything that is wrong with them.
pub(super) fn compiled(file: Option<&Path>, policy: &ClarificationPolicy) -> Result<Rules, Failure> {
    let problems = Rules::problems(policy);
    let place = file.map(|file| format!("{}: ", file.display())).unwrap_or_default();
    match Rules::compile(policy) {
        Ok(rules) => Ok(rules),
        Err(_) => Err(Failure::all(problems.iter().map(|bad| format!("{place}{bad}")))
            .hint("nothing was looked at; `countersign clarify rules list` shows rules that work")),
    }
}
