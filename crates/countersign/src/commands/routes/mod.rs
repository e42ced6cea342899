//! `countersign routes …`: a project's routes.

mod check;
mod list;
mod texts;

use crate::{context::Context, failure::Failure, operations};
use clap::Subcommand;
use countersign_protocol::project::ProjectDocument;
use countersign_server::{
    admin::{ShowProject, check_project},
    config::project_file,
};
use std::path::PathBuf;

/// List routes, and explain the requirements of a request
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Check(check::Arguments),
    List(list::Arguments),
}

/// The source of the routes.
#[derive(Debug, clap::Args)]
struct RouteSource {
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
        Command::List(arguments) => list::run(&arguments, context),
    }
}

impl RouteSource {
    fn document(&self, context: &Context) -> Result<ProjectDocument, Failure> {
        let Some(file) = &self.project else {
            let request = ShowProject { id: self.id.clone(), version: None };
            return Ok(operations::ask(context, request)?.document);
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
