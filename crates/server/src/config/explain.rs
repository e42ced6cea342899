//! Prints a configuration, for people and for programs. The output contains no secrets.

use super::{
    load::{ConfigSource, Loaded, Warning},
    problem::{ConfigErrors, ConfigProblem, ValueOrigin},
};
use serde_json::{Value, json};
use std::path::Path;

/// Every key with its value and source, in columns, then the warnings.
pub fn explain(loaded: &Loaded) -> String {
    let rows = || loaded.sources.iter().map(|source| (&source.key, source.shown(), origin_text(&source.from)));
    let keys = rows().map(|(key, ..)| key.chars().count()).max().unwrap_or(0);
    // One long list must not push the last column of every row off the screen.
    let values = rows().map(|(_, value, _)| value.chars().count()).max().unwrap_or(0).min(44);
    let settings: String =
        rows().map(|(key, value, from)| format!("  {key:keys$}  {value:values$}  {from}\n")).collect();
    format!("{}\n\n{settings}{}", headline(loaded), warnings(loaded))
}

/// One sentence per key: columns are of no use in a screen reader.
pub fn explain_as_sentences(loaded: &Loaded) -> String {
    let line =
        |source: &ConfigSource| format!("{} is {}, {}.\n", source.key, source.shown(), origin_sentence(&source.from));
    let settings: String = loaded.sources.iter().map(line).collect();
    format!("{}.\n{settings}{}", headline(loaded), warnings(loaded))
}

/// The same as JSON.
pub fn explain_json(loaded: &Loaded) -> Value {
    let setting =
        |source: &ConfigSource| json!({ "key": source.key, "value": source.value, "from": place_json(&source.from) });
    let warning = |warning: &Warning| json!({ "key": warning.key, "what": warning.what });
    json!({
        "sound": true,
        "file": loaded.file.as_deref().map(|path| path.display().to_string()),
        "settings": loaded.sources.iter().map(setting).collect::<Vec<_>>(),
        "warnings": loaded.warnings.iter().map(warning).collect::<Vec<_>>(),
    })
}

/// The problems as JSON.
pub fn problems_json(errors: &ConfigErrors) -> Value {
    let problem = |problem: &ConfigProblem| {
        json!({
            "key": problem.key,
            "wrong": problem.wrong,
            "hint": problem.hint,
            "from": place_json(&problem.place),
        })
    };
    json!({ "sound": false, "problems": errors.problems.iter().map(problem).collect::<Vec<_>>() })
}

fn headline(loaded: &Loaded) -> String {
    let name = |path: &Path| format!("{} is valid", path.display());
    loaded.file.as_deref().map_or_else(|| "no file was read; the configuration below is valid".into(), name)
}

fn warnings(loaded: &Loaded) -> String {
    let line = |warning: &Warning| format!("warning: {}: {}\n", warning.key, warning.what);
    let lines: String = loaded.warnings.iter().map(line).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

fn origin_text(place: &ValueOrigin) -> String {
    match place {
        ValueOrigin::File { line: Some(line), .. } => format!("line {line}"),
        other => other.to_string(),
    }
}

fn origin_sentence(place: &ValueOrigin) -> String {
    match place {
        ValueOrigin::Default => "by default".into(),
        ValueOrigin::File { line: Some(line), .. } => format!("set on line {line}"),
        ValueOrigin::File { line: None, .. } => "set in the file".into(),
        ValueOrigin::Environment { variable } => format!("set by {variable}"),
    }
}

fn place_json(place: &ValueOrigin) -> Value {
    match place {
        ValueOrigin::Default => json!({ "layer": "default" }),
        ValueOrigin::File { path, line } => {
            json!({ "layer": "file", "file": path.display().to_string(), "line": line })
        }
        ValueOrigin::Environment { variable } => json!({ "layer": "environment", "variable": variable }),
    }
}
