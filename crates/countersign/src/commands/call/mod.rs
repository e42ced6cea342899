//! `countersign call …`: writes without approval that have an unknown outcome.

mod list;
mod settle;

use crate::{context::Context, failure::Failure};
use clap::Subcommand;

/// List calls with an unknown outcome, and settle them
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    List(list::Arguments),
    Settle(settle::Arguments),
}

pub(crate) fn run(command: Command, context: &Context) -> Result<(), Failure> {
    match command {
        Command::List(arguments) => list::run(&arguments, context),
        Command::Settle(arguments) => settle::run(&arguments, context),
    }
}
