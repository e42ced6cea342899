//! `[gateway.credentials.NAME]`: the gateway's credentials for its upstreams.

use super::{
    document::{ConfigDocument, join},
    layers::Values,
    node::{CredentialConfig, SecretSource},
    problem::{ConfigProblem, ValueOrigin},
    secret::{ConfigSecret, MASK},
    walk,
};
use http::HeaderName;
use serde_json::{Map, Value};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

const KEY: &str = "gateway.credentials";

/// Headers that the gateway sets itself, about the connection or about the caller.
const OURS: [&str; 10] = [
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "countersign-identity",
    "host",
    "keep-alive",
    "te",
    "transfer-encoding",
    "upgrade",
];

#[derive(serde::Deserialize)]
struct CredentialSource {
    #[serde(default = "authorization")]
    header: String,
    value: Option<String>,
    file: Option<PathBuf>,
    env: Option<String>,
    projects: Option<Vec<String>>,
}

fn authorization() -> String {
    "authorization".into()
}

/// Every credential by its name, or every problem with them.
pub(super) fn read(
    values: &Values,
    document: &ConfigDocument,
    base: &Path,
) -> Result<BTreeMap<String, CredentialConfig>, Vec<ConfigProblem>> {
    let (mut sound, mut problems) = (BTreeMap::new(), Vec::new());
    for (name, value) in configured(values) {
        match credential(&value, &join(KEY, &name), base) {
            Ok(credential) => drop(sound.insert(name, credential)),
            Err(found) => problems.extend(found.into_iter().map(|fault| placed(fault, values, document))),
        }
    }
    if problems.is_empty() { Ok(sound) } else { Err(problems) }
}

/// The environment variables that hold credentials.
pub(super) fn variables(values: &Values) -> Vec<String> {
    let named = |value: Value| value.get("env").and_then(Value::as_str).map(str::to_owned);
    configured(values).into_values().filter_map(named).collect()
}

/// Everything but the secrets.
pub(super) fn masked(value: &Value) -> Value {
    let mut shown = value.clone();
    let entries = shown.as_object_mut().into_iter().flat_map(Map::values_mut);
    for secret in entries.filter_map(|entry| entry.get_mut("value")) {
        *secret = MASK.into();
    }
    shown
}

fn configured(values: &Values) -> BTreeMap<String, Value> {
    values.get(KEY).unwrap_or_default()
}

fn credential(value: &Value, path: &str, base: &Path) -> Result<CredentialConfig, Vec<walk::ConfigFault>> {
    let CredentialSource { header, value, file, env, projects } =
        walk::read(value, path).map_err(|faults| hinted(faults, path))?;
    let wrong = |member: &str, wrong: &str, hint: &str| {
        vec![walk::ConfigFault { path: join(path, member), wrong: wrong.into(), hint: hint.into() }]
    };
    let Ok(name) = HeaderName::try_from(&header) else {
        return Err(wrong("header", "is not the name of a header", "write one such as authorization or x-api-key"));
    };
    if OURS.contains(&name.as_str()) {
        return Err(wrong("header", "is a header that the gateway sets itself", "use authorization or x-api-key"));
    }
    let value = match (value, file, env) {
        (Some(text), None, None) => SecretSource::Value(ConfigSecret::new(text)),
        (None, Some(file), None) => SecretSource::File(base.join(file)),
        (None, None, Some(name)) => SecretSource::Environment(name),
        _ => {
            let hint = "give exactly one of value, file and env";
            return Err(vec![walk::ConfigFault {
                path: path.into(),
                wrong: "has no one secret".into(),
                hint: hint.into(),
            }]);
        }
    };
    Ok(CredentialConfig { header: name.as_str().to_owned(), value, projects })
}

/// Replaces the hint for a member of the wrong type.
fn hinted(faults: Vec<walk::ConfigFault>, path: &str) -> Vec<walk::ConfigFault> {
    let misfit = |fault: &walk::ConfigFault| fault.wrong != walk::UNKNOWN;
    let hint =
        || format!("write [{path}] with header, one of value, file and env, all of them text, and a list of projects");
    faults
        .into_iter()
        .map(|fault| if misfit(&fault) { walk::ConfigFault { hint: hint(), ..fault } } else { fault })
        .collect()
}

/// An environment variable has no line numbers.
fn placed(fault: walk::ConfigFault, values: &Values, document: &ConfigDocument) -> ConfigProblem {
    let place = match values.origin(KEY) {
        ValueOrigin::File { .. } => document.origin(&fault.path),
        other => other,
    };
    ConfigProblem { place, key: fault.path, wrong: fault.wrong, hint: fault.hint }
}
