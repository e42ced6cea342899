//! `countersign clock …`: the clock that deadlines depend on.

mod accept;
mod show;

use crate::{context::Context, failure::Failure};
use clap::Subcommand;

/// Show the clocks, and accept a clock that leapt
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Show(show::Arguments),
    Accept(accept::Arguments),
}

pub(crate) fn run(command: Command, context: &Context) -> Result<(), Failure> {
    match command {
        Command::Show(arguments) => show::run(&arguments, context),
        Command::Accept(arguments) => accept::run(&arguments, context),
    }
}
