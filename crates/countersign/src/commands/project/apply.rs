//! `countersign project apply FILE…`: the only way to create or change a project.

use crate::{context::Context, failure::Failure, operations};
use countersign_protocol::project::ProjectDocument;
use countersign_server::{
    admin::{ApplyProject, DocumentProblem, check_project},
    config::project_file,
};
use std::path::{Path, PathBuf};

/// Put a project's document in force. A running node uses it from the next request on
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The document, .toml or .json; several for several projects.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// All files are read and checked before the first is applied.
pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let documents = arguments.files.iter().map(|file| read(file)).collect::<Result<Vec<_>, Failure>>()?;
    for document in documents {
        context.say(&apply(document, context)?)?;
    }
    Ok(())
}

fn read(file: &Path) -> Result<ProjectDocument, Failure> {
    let document = project_file::read(file)?;
    let problems = check_project(&document);
    if problems.is_empty() { Ok(document) } else { Err(refused(file, &document, &problems)) }
}

fn apply(document: ProjectDocument, context: &Context) -> Result<String, Failure> {
    let applied = operations::ask(context, ApplyProject { document })?;
    let (id, version) = (&applied.project.id, applied.project.version);
    let what = if applied.changed { "is in force" } else { "stays in force: the document says the same" };
    Ok(format!("project {id}: version {version} {what}\n"))
}

fn refused(file: &Path, document: &ProjectDocument, problems: &[DocumentProblem]) -> Failure {
    Failure::all(problems.iter().map(|problem| format!("{}: {}", file.display(), explained(problem, document))))
        .hint("nothing was applied; `countersign project diff FILE` compares without applying")
}

/// The problem with the id of its scope or route instead of an index.
pub(super) fn explained(problem: &DocumentProblem, document: &ProjectDocument) -> String {
    let DocumentProblem { at, why } = problem;
    let index = |list: &str| at.strip_prefix(list)?.strip_prefix('[')?.strip_suffix(']')?.parse::<usize>().ok();
    let scope = index("scopes").and_then(|n| document.scopes.get(n)).map(|scope| &scope.id);
    let route = index("routes").and_then(|n| document.routes.get(n)).map(|route| &route.id);
    match scope.or(route) {
        Some(id) => format!("{at} ({id:?}): {why}"),
        None => format!("{at}: {why}"),
    }
}
