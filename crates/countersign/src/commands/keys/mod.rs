//! `countersign keys …`: what the service itself signs with.

mod list;
mod rotate;

use crate::{context::Context, failure::Failure};
use clap::Subcommand;

/// Look at and change the keys that this service signs with
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
