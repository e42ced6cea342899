//! `countersign delegation …`: people's delegations to agents.

mod lift;
mod list;

use crate::{context::Context, failure::Failure};
use clap::Subcommand;
use countersign_server::admin::DelegationState;

/// List the delegations of a project, and lift those that a restore suspended
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    List(list::Arguments),
    Lift(lift::Arguments),
}

pub(crate) fn run(command: Command, context: &Context) -> Result<(), Failure> {
    match command {
        Command::List(arguments) => list::run(&arguments, context),
        Command::Lift(arguments) => lift::run(arguments, context),
    }
}

/// The name of a state.
fn word(state: &DelegationState) -> &'static str {
    match state {
        DelegationState::Active => "active",
        DelegationState::Suspended { .. } => "suspended",
        DelegationState::Revoked { .. } => "revoked",
        DelegationState::AutoRevoked { .. } => "ended",
    }
}
