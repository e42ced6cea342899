//! `countersign project …`: the documents of projects; `apply` is the only way to create or change one.

mod diff;
mod lines;

use crate::{cli::Reading, context::Context, failure::Failure, operations, table::Listing};
use clap::Subcommand;
use countersign_protocol::project::ProjectDocument;
use countersign_server::{
    admin::{ApplyProject, DocumentProblem, ListProjectVersions, ListProjects, Project, ShowProject, check_project},
    config::project_file,
};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Apply, show and compare projects: their scopes, routes and texts
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Put a project's document in force. A running node uses it from the next request on
    Apply {
        /// The document, .toml or .json; several for several projects.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Print a project's document, as a file that can be edited and applied again
    #[command(disable_version_flag = true)]
    Show {
        /// The project. May be omitted if there is only one.
        id: Option<String>,

        /// Print this version instead of the one in force.
        #[arg(long, value_name = "N")]
        version: Option<i64>,

        #[command(flatten)]
        reading: Reading,
    },
    Diff(diff::Arguments),
    /// List the projects
    List {
        #[command(flatten)]
        reading: Reading,
    },
    /// List all versions of a project that were ever in force
    Versions {
        /// The project. May be omitted if there is only one.
        id: Option<String>,

        #[command(flatten)]
        reading: Reading,
    },
}

pub(crate) fn run(command: Command, context: &Context) -> Result<(), Failure> {
    match command {
        Command::Apply { files } => apply_all(&files, context),
        Command::Show { id, version, reading } => {
            show(&operations::ask(context, ShowProject { id, version })?, reading.json, context)
        }
        Command::Diff(arguments) => diff::run(&arguments, context),
        Command::List { reading } => {
            context.list_items(&operations::ask(context, ListProjects {})?, reading.json, &PROJECTS)
        }
        Command::Versions { id, reading } => {
            context.list_items(&operations::ask(context, ListProjectVersions { id })?, reading.json, &VERSIONS)
        }
    }
}

/// All files are read and checked before the first is applied.
fn apply_all(files: &[PathBuf], context: &Context) -> Result<(), Failure> {
    let documents = files.iter().map(|file| read(file)).collect::<Result<Vec<_>, Failure>>()?;
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
fn explained(problem: &DocumentProblem, document: &ProjectDocument) -> String {
    let DocumentProblem { at, why } = problem;
    let index = |list: &str| at.strip_prefix(list)?.strip_prefix('[')?.strip_suffix(']')?.parse::<usize>().ok();
    let scope = index("scopes").and_then(|n| document.scopes.get(n)).map(|scope| &scope.id);
    let route = index("routes").and_then(|n| document.routes.get(n)).map(|route| &route.id);
    match scope.or(route) {
        Some(id) => format!("{at} ({id:?}): {why}"),
        None => format!("{at}: {why}"),
    }
}

fn show(project: &Project, json: bool, context: &Context) -> Result<(), Failure> {
    let Project { id, version, document, .. } = project;
    let since = project.changed_at.to_rfc3339();
    if json {
        let shown = json!({ "id": id, "version": version, "changed_at": since, "document": document });
        return context.say_json(&shown);
    }
    context.say(&format!("# project {id}, version {version}, applied {since}\n{}", as_toml(document)?))
}

const PROJECTS: Listing<Project, 4> = Listing {
    head: ["project", "version", "applied", "name"],
    row: |project| {
        let applied = project.changed_at.to_rfc3339();
        [project.id.to_string(), project.version.to_string(), applied, project.document.display_name.clone()]
    },
    json: |project| {
        json!({
            "id": project.id,
            "version": project.version,
            "changed_at": project.changed_at.to_rfc3339(),
            "display_name": project.document.display_name,
        })
    },
    none: "there is no project yet: `countersign project apply FILE` makes one",
};

const VERSIONS: Listing<Project, 2> = Listing {
    head: ["version", "applied"],
    row: |then| [then.version.to_string(), then.changed_at.to_rfc3339()],
    json: |then| json!({ "version": then.version, "changed_at": then.changed_at.to_rfc3339() }),
    none: "none",
};

/// A document in its canonical form for display and comparison: every key, in the order of the document.
fn as_toml(document: &ProjectDocument) -> Result<String, Failure> {
    toml::to_string_pretty(document).map_err(|why| Failure::new(format!("the document cannot be written: {why}")))
}
