//! `countersign project …`

mod apply;
mod diff;
mod lines;
mod list;
mod show;
mod versions;

use crate::{context::Context, failure::Failure};
use clap::Subcommand;
use countersign_protocol::project::ProjectDocument;

/// Apply, show and compare projects: their scopes, routes and texts
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Apply(apply::Arguments),
    Show(show::Arguments),
    Diff(diff::Arguments),
    List(list::Arguments),
    Versions(versions::Arguments),
}

pub(crate) fn run(command: Command, context: &Context) -> Result<(), Failure> {
    match command {
        Command::Apply(arguments) => apply::run(&arguments, context),
        Command::Show(arguments) => show::run(&arguments, context),
        Command::Diff(arguments) => diff::run(&arguments, context),
        Command::List(arguments) => list::run(&arguments, context),
        Command::Versions(arguments) => versions::run(&arguments, context),
    }
}

/// A document in its canonical form for display and comparison: every key, in the order of the document.
fn as_toml(document: &ProjectDocument) -> Result<String, Failure> {
    toml::to_string_pretty(document).map_err(|why| Failure::new(format!("the document cannot be written: {why}")))
}
