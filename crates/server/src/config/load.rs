//! Finds, reads and checks a configuration as a whole.

use super::{
    Environment, checks, credentials, disk,
    document::ConfigDocument,
    layers::Values,
    node::NodeConfig,
    problem::{ConfigErrors, ConfigProblem, ValueOrigin},
    project_file, resolve,
    table::{KEYS, PROJECT},
};
use countersign_protocol::project::ProjectDocument;
use serde_json::Value;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// Names the file when no `--config` does.
pub const CONFIG_VARIABLE: &str = "COUNTERSIGN_CONFIG";

/// Read from the working folder if it exists and no other file is named.
pub const DEFAULT_FILE: &str = "countersign.toml";

/// Variables with the `COUNTERSIGN_` prefix that are not keys of the configuration.
pub(super) const RESERVED: &[&str] = &[
    CONFIG_VARIABLE,
    "COUNTERSIGN_API_KEY",
    "COUNTERSIGN_PUBLISHED_SPEC",
    "COUNTERSIGN_PASSWORD",
    "COUNTERSIGN_SERVICE",
    "COUNTERSIGN_TOKEN",
];

#[derive(Clone, Debug)]
pub struct Loaded {
    pub config: NodeConfig,
    /// The file that was read, if any.
    pub file: Option<PathBuf>,
    /// Every key in the order of the written file, secrets masked.
    pub sources: Vec<ConfigSource>,
    pub warnings: Vec<Warning>,
    /// Variables with the `COUNTERSIGN_` prefix that are not keys. A node refuses to start with any.
    pub unknown_variables: Vec<ConfigProblem>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigSource {
    pub key: String,
    /// Secrets are masked.
    pub value: Value,
    pub from: ValueOrigin,
}

impl ConfigSource {
    /// The value as it would be written in the file.
    pub fn shown(&self) -> String {
        toml::Value::try_from(&self.value).map_or_else(|_| self.value.to_string(), |value| value.to_string())
    }
}

/// A valid setting that is probably a mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    pub key: String,
    pub what: String,
}

/// The treatment of unknown variables with the `COUNTERSIGN_` prefix.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unknown {
    Refused,
    Listed,
}

/// Reads the file (named, or by [`CONFIG_VARIABLE`], or [`DEFAULT_FILE`] if it exists), applies the environment, checks
/// everything, and checks that the named files exist.
pub fn load(path: Option<&Path>, environment: &Environment) -> Result<Loaded, ConfigErrors> {
    load_with(path, environment, Unknown::Refused)
}

/// For a command that starts no node: an unknown variable is listed, but not an error.
pub fn load_for_command(path: Option<&Path>, environment: &Environment) -> Result<Loaded, ConfigErrors> {
    load_with(path, environment, Unknown::Listed)
}

fn load_with(path: Option<&Path>, environment: &Environment, unknown: Unknown) -> Result<Loaded, ConfigErrors> {
    let path = find(path, environment);
    let text = path.as_deref().map(read).transpose()?;
    let mut loaded = read_text(path.as_deref().zip(text.as_deref()), environment, unknown)?;
    let problems = disk::missing(&loaded);
    if !problems.is_empty() {
        return Err(ConfigErrors { problems });
    }
    loaded.warnings.extend(disk::warnings(&loaded.config));
    Ok(loaded)
}

/// Loads from a text without touching the disk. Relative paths start from the folder of `file`.
pub fn from_text(file: Option<(&Path, &str)>, environment: &Environment) -> Result<Loaded, ConfigErrors> {
    read_text(file, environment, Unknown::Refused)
}

/// Loads from a text, for a command that starts no node.
pub fn from_text_for_command(file: Option<(&Path, &str)>, environment: &Environment) -> Result<Loaded, ConfigErrors> {
    read_text(file, environment, Unknown::Listed)
}

fn read_text(file: Option<(&Path, &str)>, environment: &Environment, unknown: Unknown) -> Result<Loaded, ConfigErrors> {
    let document = file.map(|(path, text)| ConfigDocument::toml(path, text)).transpose()?.unwrap_or_default();
    let base = file.and_then(|(path, _)| path.parent()).unwrap_or(Path::new(""));
    let mut values = Values::defaults();
    let mut problems = values.lay_file(&document);
    problems.extend(values.lay_environment(environment));
    let mut unknown_variables = values.unknown_variables(environment);
    if unknown == Unknown::Refused {
        problems.append(&mut unknown_variables);
    }
    problems.extend(checks::problems(&values));
    let project = project(&document).unwrap_or_else(|found| {
        problems.extend(found);
        None
    });
    let credentials = credentials::read(&values, &document, base).unwrap_or_else(|found| {
        problems.extend(found);
        BTreeMap::new()
    });
    if !problems.is_empty() {
        problems.sort_by(|left, right| left.place.cmp(&right.place));
        return Err(ConfigErrors { problems });
    }
    let config = resolve::node(&values, base, credentials, project)?;
    let sources = sources(&values, &document, &config);
    let (file, warnings) = (file.map(|(path, _)| path.to_owned()), checks::warnings(&values));
    Ok(Loaded { config, file, sources, warnings, unknown_variables })
}

fn find(path: Option<&Path>, environment: &Environment) -> Option<PathBuf> {
    let named = path.map(Path::to_owned).or_else(|| environment.get(CONFIG_VARIABLE).map(PathBuf::from));
    named.or_else(|| Some(PathBuf::from(DEFAULT_FILE)).filter(|path| path.exists()))
}

/// The text of a file that a person named.
pub(super) fn read(path: &Path) -> Result<String, ConfigProblem> {
    std::fs::read_to_string(path).map_err(|e| ConfigProblem {
        place: ValueOrigin::File { path: path.to_owned(), line: None },
        key: String::new(),
        wrong: format!("cannot be read: {e}"),
        hint: "check the path; `countersign init` writes a new file".into(),
    })
}

fn project(document: &ConfigDocument) -> Result<Option<ProjectDocument>, Vec<ConfigProblem>> {
    document.root.get(PROJECT).map(|value| project_file::document(value, PROJECT, document)).transpose()
}

fn sources(values: &Values, document: &ConfigDocument, config: &NodeConfig) -> Vec<ConfigSource> {
    let known = KEYS.iter().filter_map(|key| {
        let said = values.set_value(key.path)?;
        Some(ConfigSource { key: key.path.into(), value: key.kind.masked(&said.value), from: said.place.clone() })
    });
    let project = config.project.iter().map(|project| ConfigSource {
        key: PROJECT.into(),
        value: project.id.as_str().into(),
        from: document.origin(PROJECT),
    });
    known.chain(project).collect()
}
