//! `countersign clarify rules …`: the rules, and their test cases.

mod list;
mod test;

use crate::{context::Context, failure::Failure};
use clap::Subcommand;

/// List rules that find gaps, and run their test cases
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
