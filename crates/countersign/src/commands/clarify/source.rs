//! The rules to apply: those of a file, or the built-in ones.

use crate::failure::Failure;
use countersign_protocol::clarification::ClarificationPolicy;
use countersign_server::{admin::clarification_rules::Rules, config::project_file};
use std::path::Path;

/// The policy of a file; without one, the default policy of a project.
pub(super) fn policy(file: Option<&Path>) -> Result<ClarificationPolicy, Failure> {
    Ok(file.map(project_file::read_clarification).transpose()?.unwrap_or_default())
}

/// The compiled rules, or every problem with them.
pub(super) fn compiled(file: Option<&Path>, policy: &ClarificationPolicy) -> Result<Rules, Failure> {
    let problems = Rules::problems(policy);
    let place = file.map(|file| format!("{}: ", file.display())).unwrap_or_default();
    match Rules::compile(policy) {
        Ok(rules) => Ok(rules),
        Err(_) => Err(Failure::all(problems.iter().map(|bad| format!("{place}{bad}")))
            .hint("nothing was checked; `countersign clarify rules list` shows valid rules")),
    }
}
