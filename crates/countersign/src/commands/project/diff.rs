//! `countersign project diff FILE`: the changes that applying it would make.

use super::{
    as_toml, explained,
    lines::{DiffLine, compare},
};
use crate::{cli::Reading, context::Context, failure::Failure, operations};
use anstyle::AnsiColor;
use countersign_protocol::project::ProjectDocument;
use countersign_server::{
    admin::{FindProject, Project, check_project},
    config::project_file,
};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Compare a document with the one in force. Ends with 0 if they are equal, with 1 if not
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The document, .toml or .json.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    reading: Reading,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let document = project_file::read(&arguments.file)?;
    let current = operations::ask(context, FindProject { id: document.id.clone() })?;
    let before = current.as_ref().map_or_else(|| Ok(String::new()), |project| as_toml(&project.document))?;
    let after = as_toml(&document)?;
    let lines = compare(&before, &after);
    if arguments.reading.json {
        context.say_json(&json(&document, current.as_ref(), &lines))?;
    } else {
        context.say(&text(&document, current.as_ref(), &lines, context.terminal.accessible))?;
        warn(&document, context);
    }
    if lines.iter().all(DiffLine::is_same) { Ok(()) } else { Err(Failure::told()) }
}

/// A comparison is also for unfinished documents, so their problems do not stop it.
fn warn(document: &ProjectDocument, context: &Context) {
    for problem in check_project(document) {
        let what = format!("it cannot be applied as it is: {}", explained(&problem, document));
        context.terminal.note("warning", AnsiColor::Yellow, &what);
    }
}

fn text(document: &ProjectDocument, current: Option<&Project>, lines: &[DiffLine<'_>], accessible: bool) -> String {
    let id = &document.id;
    let head = match current {
        Some(project) if lines.iter().all(DiffLine::is_same) => {
            return format!("project {id}: the file equals the document in force, version {}\n", project.version);
        }
        Some(project) => format!("project {id}: from version {}, which is in force, to the file\n", project.version),
        None => format!("project {id}: is not there yet, so all of it is new\n"),
    };
    head + &if accessible { sentences(lines) } else { hunks(lines) }
}

fn sentences(lines: &[DiffLine<'_>]) -> String {
    let sentence = |line: &DiffLine<'_>| match line {
        DiffLine::Same(_) => String::new(),
        DiffLine::Removed(text) => format!("removed: {text}\n"),
        DiffLine::Added(text) => format!("added: {text}\n"),
    };
    lines.iter().map(sentence).collect()
}

/// Number of unchanged lines shown before and after a change.
const AROUND: usize = 3;

fn hunks(lines: &[DiffLine<'_>]) -> String {
    let near = |n: usize| {
        let window = lines.get(n.saturating_sub(AROUND)..lines.len().min(n + AROUND + 1));
        window.is_some_and(|window| !window.iter().all(DiffLine::is_same))
    };
    let mut text = String::new();
    let mut left_out = false;
    for (n, line) in lines.iter().enumerate() {
        if near(n) {
            text += &line.marked();
        } else if !left_out {
            text += "  ...\n";
        }
        left_out = !near(n);
    }
    text
}

fn json(document: &ProjectDocument, current: Option<&Project>, lines: &[DiffLine<'_>]) -> Value {
    let change = |line: &DiffLine<'_>| match line {
        DiffLine::Same(_) => None,
        DiffLine::Removed(text) => Some(json!({ "removed": text })),
        DiffLine::Added(text) => Some(json!({ "added": text })),
    };
    let problems = check_project(document);
    json!({
        "id": document.id,
        "version_in_force": current.map(|project| project.version),
        "same": lines.iter().all(DiffLine::is_same),
        "changes": lines.iter().filter_map(change).collect::<Vec<_>>(),
        "problems": problems.iter().map(|p| json!({ "at": p.at, "why": p.why })).collect::<Vec<_>>(),
    })
}
