//! `countersign config …`

mod check;

use crate::{context::Context, failure::Failure};
use clap::Subcommand;

/// Check the configuration of the node
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Check(check::Arguments),
}

pub(crate) fn run(command: Command, context: &Context) -> Result<(), Failure> {
    match command {
        Command::Check(arguments) => check::run(&arguments, context),
    }
}
