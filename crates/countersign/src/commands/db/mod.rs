//! `countersign db …`: the size of the database.

mod stats;
mod vacuum;

use crate::{context::Context, failure::Failure};
use clap::Subcommand;

/// Show how much room the database takes and what is removed next, or make its file smaller
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Stats(stats::Arguments),
    Vacuum(vacuum::Arguments),
}

pub(crate) fn run(command: Command, context: &Context) -> Result<(), Failure> {
    match command {
        Command::Stats(arguments) => stats::run(&arguments, context),
        Command::Vacuum(_) => vacuum::run(context),
    }
}
