//! `countersign clarify rules …`: the rules themselves, and the cases beside them.

mod list;
mod test;

use crate::{context::Context, failure::Failure};
use clap::Subcommand;

/// List rules that find gaps, and run the cases beside them
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    Test(test::Arguments),
    List(list::Arguments),
}

pub(super) fn run(command: &Command, json: bool, context: &Context) -> Result<(), Failure> {
    match command {
        Command::Test(arguments) => test::run(arguments, json, context),
        Command::List(arguments) => list::run(arguments, json, context),
    }
}
