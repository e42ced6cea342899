//! `countersign audit …`: who decided what, how surely, and what became of it.

mod bundle;
mod check;
mod list;
mod verify;

use crate::{context::Context, failure::Failure};
use clap::Subcommand;

/// Read the audit, check it, export evidence of what happened, and verify it anywhere
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    List(list::Arguments),
    Check(check::Arguments),
    Bundle(bundle::Arguments),
    Verify(verify::Arguments),
}

pub(crate) fn run(command: Command, context: &Context) -> Result<(), Failure> {
    match command {
        Command::Bundle(arguments) => bundle::run(arguments, context),
        Command::Verify(arguments) => verify::run(&arguments, context),
        Command::Check(arguments) => check::run(&arguments, context),
        Command::List(arguments) => list::run(arguments, context),
    }
}
