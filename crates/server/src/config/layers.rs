//! Merges defaults, file and environment: one value per key, with its source.

use super::{
    Environment, credentials,
    document::{ConfigDocument, join},
    kind::ConfigKind,
    load::RESERVED,
    problem::{ConfigProblem, ValueOrigin, nearest, nearest_hint},
    table::{self, KEYS, Key, PREFIX, PROJECT, SECTIONS},
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

pub(super) struct SetValue {
    pub(super) value: Value,
    pub(super) place: ValueOrigin,
}

/// The value of every key in the table. A refused value is removed, so that no later check reports it again.
pub(super) struct Values(BTreeMap<&'static str, SetValue>);

impl Values {
    pub(super) fn defaults() -> Self {
        let said = |key: &Key| SetValue { value: key.default_value(), place: ValueOrigin::Default };
        Self(KEYS.iter().map(|key| (key.path, said(key))).collect())
    }

    /// Adds the values of the file, and returns the problems with them.
    pub(super) fn lay_file(&mut self, document: &ConfigDocument) -> Vec<ConfigProblem> {
        let mut reader = FileReader { document, values: self, problems: Vec::new() };
        reader.section(&document.root, "");
        reader.problems
    }

    /// Adds the values of the environment, and returns the problems with them.
    pub(super) fn lay_environment(&mut self, environment: &Environment) -> Vec<ConfigProblem> {
        let mut problems = Vec::new();
        for key in KEYS {
            let variable = key.variable();
            if let Some(text) = environment.get(&variable) {
                let place = ValueOrigin::Environment { variable };
                problems.extend(self.set(key, key.kind.read_text(text), place).err());
            }
        }
        problems
    }

    /// The typed value, after the table's check. Fails for a refused key; any other failure is a mistake in the table.
    pub(super) fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ConfigProblem> {
        let said = self.0.get(path);
        let read = said.map_or(Err("has no value".to_owned()), |said| {
            T::deserialize(&said.value).map_err(|_| "cannot hold this".to_owned())
        });
        read.map_err(|wrong| self.problem(path, wrong, "this is a mistake in the program, please report it"))
    }

    pub(super) fn origin(&self, path: &str) -> ValueOrigin {
        self.0.get(path).map_or(ValueOrigin::Default, |said| said.place.clone())
    }

    pub(super) fn set_value(&self, path: &str) -> Option<&SetValue> {
        self.0.get(path)
    }

    /// A problem with a key, at the place where it was set.
    pub(super) fn problem(&self, path: &str, wrong: impl Into<String>, hint: impl Into<String>) -> ConfigProblem {
        ConfigProblem { place: self.origin(path), key: path.to_owned(), wrong: wrong.into(), hint: hint.into() }
    }

    fn set(&mut self, key: &Key, value: Value, place: ValueOrigin) -> Result<(), ConfigProblem> {
        if !key.kind.accepts(&value) {
            self.0.remove(key.path);
            return Err(misfit(key, &value, place));
        }
        self.0.insert(key.path, SetValue { value, place });
        Ok(())
    }

    /// Variables with the `COUNTERSIGN_` prefix that are not keys. Variables that hold the key-encryption key or
    /// credentials may have this prefix without being keys of the table.
    pub(super) fn unknown_variables(&self, environment: &Environment) -> Vec<ConfigProblem> {
        let key_variable: String = self.get("keys.environment").unwrap_or_default();
        let named = credentials::variables(self);
        let ours: Vec<String> = KEYS.iter().map(Key::variable).collect();
        let known = |name: &String| {
            ours.contains(name) || RESERVED.contains(&name.as_str()) || *name == key_variable || named.contains(name)
        };
        let unknown = environment.keys().filter(|name| name.starts_with(PREFIX) && !known(name));
        unknown.map(|name| unknown_variable(name, &ours)).collect()
    }
}

struct FileReader<'a> {
    document: &'a ConfigDocument,
    values: &'a mut Values,
    problems: Vec<ConfigProblem>,
}

impl FileReader<'_> {
    fn section(&mut self, members: &Map<String, Value>, section: &str) {
        for (name, value) in members {
            let path = join(section, name);
            let result = match (table::find(&path), value) {
                (Some(key), _) => self.values.set(key, value.clone(), self.document.origin(&path)),
                (None, _) if path == PROJECT => Ok(()),
                (None, Value::Object(members)) if is_section(&path) => {
                    self.section(members, &path);
                    Ok(())
                }
                (None, _) if is_section(&path) => Err(self.not_a_section(&path)),
                (None, _) => Err(self.unknown(section, name)),
            };
            self.problems.extend(result.err());
        }
    }

    fn not_a_section(&self, path: &str) -> ConfigProblem {
        let hint = format!("write [{path}] on a line of its own and its keys below it");
        let place = self.document.origin(path);
        ConfigProblem { place, key: path.to_owned(), wrong: "is a section, not a key".into(), hint }
    }

    fn unknown(&self, section: &str, name: &str) -> ConfigProblem {
        let path = join(section, name);
        let place = self.document.origin(&path);
        ConfigProblem { place, hint: unknown_hint(section, name), key: path, wrong: "is not a known key".into() }
    }
}

fn is_section(path: &str) -> bool {
    SECTIONS.iter().any(|section| section.name == path)
}

/// Suggests a name in the same section first, then the same name in another section.
fn unknown_hint(section: &str, name: &str) -> String {
    let beside: Vec<&str> = names_in(section).collect();
    let elsewhere = KEYS.iter().find(|key| key.name() == name);
    match (nearest(name, beside.iter().copied()), elsewhere) {
        (None, Some(key)) => format!("did you mean `{}`?", key.path),
        _ => nearest_hint(name, beside),
    }
}

fn names_in(section: &str) -> impl Iterator<Item = &'static str> {
    let sections = SECTIONS.iter().map(|section| section.name).chain([PROJECT]).filter(move |_| section.is_empty());
    KEYS.iter().filter(move |key| key.section() == section).map(Key::name).chain(sections)
}

fn misfit(key: &Key, value: &Value, place: ValueOrigin) -> ConfigProblem {
    let found = if same_type(key.kind, value) { String::new() } else { format!(", not {}", type_name(value)) };
    let wrong = format!("must be {}{found}", key.kind.expected());
    let near =
        value.as_str().and_then(|text| near_choice(key.kind, text)).map(|name| format!("did you mean {name:?}?"));
    let hint = near.unwrap_or_else(|| format!("without this key it is {}", key.default));
    ConfigProblem { place, key: key.path.to_owned(), wrong, hint }
}

fn near_choice(kind: ConfigKind, text: &str) -> Option<&'static str> {
    let ConfigKind::Choice(names) = kind else { return None };
    nearest(text, names.iter().copied())
}

/// Whether the type is right and only the content is wrong; naming the type would then mislead.
fn same_type(kind: ConfigKind, value: &Value) -> bool {
    match kind {
        ConfigKind::Flag => value.is_boolean(),
        ConfigKind::Whole { .. } => value.is_number(),
        ConfigKind::TextList
        | ConfigKind::PathList
        | ConfigKind::Networks
        | ConfigKind::Origins
        | ConfigKind::Upstreams => value.is_array(),
        ConfigKind::Hosts | ConfigKind::Credentials => value.is_object(),
        _ => value.is_string(),
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a table",
    }
}

fn unknown_variable(name: &str, ours: &[String]) -> ConfigProblem {
    let hint = match name.strip_prefix(PREFIX) {
        Some(rest) if rest.starts_with("PROJECT__") => "a project is set in a file, not in the environment".into(),
        _ => nearest(name, ours.iter().map(String::as_str).chain(RESERVED.iter().copied())).map_or_else(
            || "`countersign config check` lists every key".into(),
            |near| format!("did you mean `{near}`?"),
        ),
    };
    let place = ValueOrigin::Environment { variable: name.to_owned() };
    ConfigProblem { place, key: String::new(), wrong: "is not a known variable".into(), hint }
}
