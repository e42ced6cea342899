//! Documents from files, TOML or JSON: a project, also from the `[project]` section of the node's own file, or its clarification policy.

use super::{
    document::{ConfigDocument, join},
    load,
    problem::{ConfigErrors, ConfigProblem, ValueOrigin},
    walk::{self, ConfigFault},
};
use countersign_protocol::{
    clarification::ClarificationPolicy,
    json,
    project::{ProjectDocument, Route, Scope},
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::{collections::BTreeMap, path::Path};

/// Reads `.toml` or `.json`. The core decides whether the document may be applied.
pub fn read(path: &Path) -> Result<ProjectDocument, ConfigErrors> {
    let file = read_document(path)?;
    document(&Value::Object(file.root.clone()), "", &file).map_err(|problems| ConfigErrors { problems })
}

/// Parses a file by its extension, into plain values.
pub(super) fn read_document(path: &Path) -> Result<ConfigDocument, ConfigProblem> {
    let text = load::read(path)?;
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("toml") => ConfigDocument::toml(path, &text),
        Some("json") => from_json(path, &text),
        _ => Err(unusable(path, "ends neither in .toml nor in .json", "rename it to match its format")),
    }
}

/// The document in `value`, found at `path` in `file`.
pub(super) fn document(
    value: &Value,
    path: &str,
    file: &ConfigDocument,
) -> Result<ProjectDocument, Vec<ConfigProblem>> {
    // Deserialization stops at the first error, so each scope and route is also read by itself: one run then shows the
    // problems of all of them.
    let parts = faults_in::<Scope>(value, path, "scopes").chain(faults_in::<Route>(value, path, "routes"));
    let mut faults: BTreeMap<String, ConfigFault> = parts.map(|fault| (fault.path.clone(), fault)).collect();
    match walk::read(value, path) {
        Ok(document) if faults.is_empty() => return Ok(document),
        whole => faults.extend(whole.err().into_iter().flatten().map(|fault| (fault.path.clone(), fault))),
    }
    Err(faults.into_values().map(|fault| problem(fault, file)).collect())
}

fn faults_in<T: DeserializeOwned>(value: &Value, path: &str, list: &str) -> impl Iterator<Item = ConfigFault> {
    let path = join(path, list);
    let items = value.get(list).and_then(Value::as_array).into_iter().flatten().enumerate();
    items.flat_map(move |(index, item)| walk::read::<T>(item, &format!("{path}[{index}]")).err().unwrap_or_default())
}

pub(super) fn problem(fault: ConfigFault, file: &ConfigDocument) -> ConfigProblem {
    ConfigProblem { place: file.origin(&fault.path), key: fault.path, wrong: fault.wrong, hint: fault.hint }
}

fn from_json(path: &Path, text: &str) -> Result<ConfigDocument, ConfigProblem> {
    match json::value(text.as_bytes()) {
        Ok(Value::Object(root)) => Ok(ConfigDocument::without_lines(path, root)),
        Ok(_) => Err(unusable(path, "is not a JSON object", "a project document is a JSON object in { braces }")),
        Err(e) => Err(unusable(path, &format!("is not valid JSON: {e}"), "repair it there")),
    }
}

fn unusable(path: &Path, wrong: &str, hint: &str) -> ConfigProblem {
    let place = ValueOrigin::File { path: path.to_owned(), line: None };
    ConfigProblem { place, key: String::new(), wrong: wrong.into(), hint: hint.into() }
}

const SECTION: &str = "clarification";
/// Members of every project document, which a bare policy does not have.
const ONLY_PROJECTS: [&str; 2] = ["id", SECTION];

/// Reads `.toml` or `.json`. The rest of a project document is ignored; the core decides whether the rules are usable.
pub fn read_clarification(path: &Path) -> Result<ClarificationPolicy, ConfigErrors> {
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
