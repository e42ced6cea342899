//! `countersign keys …`: the service's own signing keys.

mod list;
mod rotate;

use crate::{context::Context, failure::Failure};
use clap::Subcommand;

/// List and rotate the signing keys of this service
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    List(list::Arguments),
    Rotate(rotate::Arguments),
}

pub(crate) fn run(command: Command, context: &Context) -> Result<(), Failure> {
    match command {
        Command::List(arguments) => list::run(&arguments, context),
        Command::Rotate(arguments) => rotate::run(&arguments, context),
    }
}
