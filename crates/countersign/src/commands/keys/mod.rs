//! `countersign keys …`: what the service itself signs with.

mod list;
mod rotate;

use crate::{context::Context, failure::Failure};
use clap::Subcommand;
use countersign_server::admin::{Engine, KeyInUse};

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

/// The published keys, oldest first.
fn published(engine: &Engine) -> Vec<KeyInUse> {
    engine.keys().map(|published| published.keys.clone()).unwrap_or_default()
}
