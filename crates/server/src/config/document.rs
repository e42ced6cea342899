//! A TOML text as plain values, with the line of each key.

use super::problem::{ConfigProblem, ValueOrigin};
use serde_json::{Map, Value};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};
use toml::de::{DeFloat, DeInteger, DeTable, DeValue};

/// The default is an absent file: no values and no path.
#[derive(Debug, Default)]
pub(super) struct ConfigDocument {
    pub(super) root: Map<String, Value>,
    path: Option<PathBuf>,
    lines: BTreeMap<String, usize>,
}

/// Invalid TOML, or TOML that no key accepts.
#[derive(Debug)]
pub(super) struct NotToml {
    pub(super) line: Option<usize>,
    pub(super) what: String,
}

impl ConfigDocument {
    pub(super) fn toml(path: &Path, text: &str) -> Result<Self, ConfigProblem> {
        let unreadable = |found: NotToml| found.at(path);
        let table = DeTable::parse(text).map_err(|e| unreadable(syntax(text, &e)))?;
        let mut reader = TomlReader { text, lines: BTreeMap::new() };
        let root = reader.table(table.get_ref(), "").map_err(unreadable)?;
        Ok(Self { root, path: Some(path.to_owned()), lines: reader.lines })
    }

    /// Values parsed by other means, without line numbers.
    pub(super) fn without_lines(path: &Path, root: Map<String, Value>) -> Self {
        Self { root, path: Some(path.to_owned()), lines: BTreeMap::new() }
    }

    /// The file and line of a key such as `project.scopes[1].allows`.
    pub(super) fn origin(&self, key: &str) -> ValueOrigin {
        self.path.clone().map_or(ValueOrigin::Default, |path| ValueOrigin::File { path, line: self.line_of(key) })
    }

    /// The line of the key, or of its nearest parent.
    fn line_of(&self, key: &str) -> Option<usize> {
        std::iter::successors(Some(key), around).find_map(|key| self.lines.get(key).copied())
    }
}

impl NotToml {
    fn at(self, path: &Path) -> ConfigProblem {
        let place = ValueOrigin::File { path: path.to_owned(), line: self.line };
        let hint = "repair that line; text is in quotes, a section in [brackets]".into();
        ConfigProblem { place, key: String::new(), wrong: self.what, hint }
    }
}

fn around<'k>(key: &&'k str) -> Option<&'k str> {
    key.get(..key.rfind(['.', '['])?)
}

/// A single TOML value, as it would follow `key = `.
pub(super) fn value(text: &str) -> Result<Value, NotToml> {
    let value = DeValue::parse(text).map_err(|e| syntax(text, &e))?;
    TomlReader { text, lines: BTreeMap::new() }.value(value.get_ref(), "", 0)
}

/// The dotted path of `key` below `path`.
pub(super) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Only the message: the parser's own display prints the line, which may contain a password.
fn syntax(text: &str, error: &toml::de::Error) -> NotToml {
    let line = error.span().map(|span| line_at(text, span.start));
    NotToml { line, what: format!("not valid TOML: {}", error.message().replace('\n', ", ")) }
}

fn line_at(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|b| *b == b'\n').count()
}

struct TomlReader<'a> {
    text: &'a str,
    lines: BTreeMap<String, usize>,
}

impl TomlReader<'_> {
    fn table(&mut self, table: &DeTable<'_>, path: &str) -> Result<Map<String, Value>, NotToml> {
        let mut members = Map::new();
        for (key, value) in table {
            let path = join(path, key.get_ref());
            self.lines.insert(path.clone(), line_at(self.text, key.span().start));
            members.insert(key.get_ref().to_string(), self.value(value.get_ref(), &path, value.span().start)?);
        }
        Ok(members)
    }

    fn array(&mut self, items: &[toml::Spanned<DeValue<'_>>], path: &str) -> Result<Vec<Value>, NotToml> {
        let mut values = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let path = format!("{path}[{index}]");
            self.lines.insert(path.clone(), line_at(self.text, item.span().start));
            values.push(self.value(item.get_ref(), &path, item.span().start)?);
        }
        Ok(values)
    }

    fn value(&mut self, value: &DeValue<'_>, path: &str, at: usize) -> Result<Value, NotToml> {
        let refuse = |what: &str| NotToml { line: Some(line_at(self.text, at)), what: what.to_owned() };
        match value {
            DeValue::String(text) => Ok(Value::String(text.to_string())),
            DeValue::Integer(number) => whole(number).ok_or_else(|| refuse("a number that is too large")),
            DeValue::Float(number) => float(number).ok_or_else(|| refuse("a number that is not finite")),
            DeValue::Boolean(flag) => Ok(Value::Bool(*flag)),
            DeValue::Datetime(_) => Err(refuse("a date, which no key takes")),
            DeValue::Array(items) => self.array(items, path).map(Value::Array),
            DeValue::Table(table) => self.table(table, path).map(Value::Object),
        }
    }
}

fn whole(number: &DeInteger<'_>) -> Option<Value> {
    i64::from_str_radix(number.as_str(), number.radix()).ok().map(Value::from)
}

fn float(number: &DeFloat<'_>) -> Option<Value> {
    number.as_str().parse().ok().and_then(serde_json::Number::from_f64).map(Value::Number)
}
