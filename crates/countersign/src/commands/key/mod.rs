//! `countersign key …`: keys of agents, admins, enforcement points and identity providers.

mod add;
mod lift;
mod list;
mod revoke;

use crate::{context::Context, failure::Failure};
use clap::Subcommand;
use countersign_server::admin::ApiKeyKind;

/// Create, list and revoke API keys of a project, and lift those that a restore suspended
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Add(add::Arguments),
    List(list::Arguments),
    Revoke(revoke::Arguments),
    Lift(lift::Arguments),
}

pub(crate) fn run(command: Command, context: &Context) -> Result<(), Failure> {
    match command {
        Command::Add(arguments) => add::run(&arguments, context),
        Command::List(arguments) => list::run(&arguments, context),
        Command::Revoke(arguments) => revoke::run(&arguments, context),
        Command::Lift(arguments) => lift::run(arguments, context),
    }
}

/// The name of a kind, the same as on the command line.
fn word(kind: ApiKeyKind) -> &'static str {
    match kind {
        ApiKeyKind::Agent => "agent",
        ApiKeyKind::Admin => "admin",
        ApiKeyKind::EnforcementPoint => "enforcement-point",
        ApiKeyKind::Scim => "scim",
    }
}
