//! `countersign token …`: issues and revokes a person's subscriber tokens.

mod add;
mod list;
mod revoke;

use crate::{context::Context, failure::Failure};
use clap::Subcommand;

/// Create, list and revoke the tokens of subscribers
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Add(add::Arguments),
    List(list::Arguments),
    Revoke(revoke::Arguments),
}

pub(crate) fn run(command: Command, context: &Context) -> Result<(), Failure> {
    match command {
        Command::Add(arguments) => add::run(&arguments, context),
        Command::List(arguments) => list::run(&arguments, context),
        Command::Revoke(arguments) => revoke::run(&arguments, context),
    }
}
