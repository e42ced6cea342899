//! Clarification policy from a file: a whole project document, or only the members of `[clarification]`.

use super::{
    document::{ConfigDocument, join},
    problem::ConfigErrors,
    project_file::{problem, read_document},
    walk,
};
use countersign_protocol::clarification::ClarificationPolicy;
use serde_json::Value;
use std::path::Path;

const SECTION: &str = "clarification";
/// Members of every project document, which a bare policy does not have.
const ONLY_PROJECTS: [&str; 2] = ["id", SECTION];

/// Reads `.toml` or `.json`. The rest of a project document is ignored; the core decides whether the rules are usable.
pub fn read(path: &Path) -> Result<ClarificationPolicy, ConfigErrors> {
    let file = read_document(path)?;
    let of_a_project = ONLY_PROJECTS.iter().any(|member| file.root.contains_key(*member));
    match (of_a_project, file.root.get(SECTION)) {
        (true, None) => Ok(ClarificationPolicy::default()),
        (true, Some(section)) => policy(section, &join("", SECTION), &file),
        (false, _) => policy(&Value::Object(file.root.clone()), "", &file),
    }
}

fn policy(value: &Value, path: &str, file: &ConfigDocument) -> Result<ClarificationPolicy, ConfigErrors> {
    let problems = |faults: Vec<walk::ConfigFault>| faults.into_iter().map(|fault| problem(fault, file)).collect();
    walk::read(value, path).map_err(|faults| ConfigErrors { problems: problems(faults) })
}
