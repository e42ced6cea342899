//! `countersign routes …`: a project's routes.

mod check;
mod texts;

use crate::{cli::Reading, context::Context, failure::Failure, operations, table::Table};
use clap::Subcommand;
use countersign_protocol::project::{ProjectDocument, Route};
use countersign_server::{
    admin::{ShowProject, check_project, held::must_be_confirmed},
    config::project_file,
};
use serde_json::{Value, json};
use std::path::PathBuf;

/// List routes, and explain the requirements of a request
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Check(check::Arguments),
    /// List the routes: method, path and action
    List {
        #[command(flatten)]
        source: RouteSource,

        #[command(flatten)]
        reading: Reading,
    },
}

/// The source of the routes.
#[derive(Debug, clap::Args)]
pub(crate) struct RouteSource {
    /// A document, .toml or .json, that need not be in force. Default: the document in force.
    #[arg(long, value_name = "FILE")]
    project: Option<PathBuf>,

    /// The project in force. May be omitted if there is only one.
    #[arg(long, value_name = "ID", conflicts_with = "project")]
    id: Option<String>,
}

pub(crate) fn run(command: Command, context: &Context) -> Result<(), Failure> {
    match command {
        Command::Check(arguments) => check::run(&arguments, context),
        Command::List { source, reading } => list(&source.document(context)?, reading.json, context),
    }
}

impl RouteSource {
    fn document(&self, context: &Context) -> Result<ProjectDocument, Failure> {
        let Some(file) = &self.project else {
            let request = ShowProject { id: self.id.clone(), version: None };
            return Ok((*operations::ask(context, request)?.document).clone());
        };
        let document = project_file::read(file)?;
        let problems = check_project(&document);
        if problems.is_empty() {
            return Ok(document);
        }
        let told = problems.iter().map(|problem| format!("{}: {problem}", file.display()));
        Err(Failure::all(told)
            .hint("a document with problems is never in force, so requests cannot be checked against it"))
    }
}

fn list(document: &ProjectDocument, json: bool, context: &Context) -> Result<(), Failure> {
    if json {
        return context.say_json(&document.routes.iter().map(|route| as_json(route, document)).collect());
    }
    context.list(&Table {
        head: ["method", "path", "action", "kind", "route"],
        rows: document.routes.iter().map(|route| as_row(route, document)).collect(),
        none: "the project has no routes, so every request is refused",
    })
}

fn as_row(route: &Route, document: &ProjectDocument) -> [String; 5] {
    let kind = match (must_be_confirmed(document, route), route.writes()) {
        (true, _) => "needs approval",
        (false, true) => "writes",
        (false, false) => "reads",
    };
    [route.method.clone(), route.path.clone(), route.action.clone(), kind.to_owned(), route.id.clone()]
}

fn as_json(route: &Route, document: &ProjectDocument) -> Value {
    json!({
        "id": route.id,
        "method": route.method,
        "path": route.path,
        "action": route.action,
        "writes": route.writes(),
        "held": must_be_confirmed(document, route),
    })
}
