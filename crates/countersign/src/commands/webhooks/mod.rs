//! `countersign webhooks …`: messages to operators about auto-revokes, and the secrets that sign them.

mod list;
mod replay;
mod secret;
mod show;

pub(super) use secret::operator;

use crate::{context::Context, failure::Failure};
use clap::Subcommand;
use countersign_server::admin::{OutboxMessage, OutboxState};
use serde_json::{Value, json};

/// Enrol operators for webhooks, list the messages to them, and replay those that were given up
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    List(list::Arguments),
    Show(show::Arguments),
    Replay(replay::Arguments),
    #[command(subcommand)]
    Secret(secret::Command),
}

pub(crate) fn run(command: Command, context: &Context) -> Result<(), Failure> {
    match command {
        Command::List(arguments) => list::run(&arguments, context),
        Command::Show(arguments) => show::run(&arguments, context),
        Command::Replay(arguments) => replay::run(&arguments, context),
        Command::Secret(command) => secret::run(command, context),
    }
}

/// The name of a state.
fn word(state: &OutboxState) -> &'static str {
    match state {
        OutboxState::Pending { .. } => "pending",
        OutboxState::Delivered { .. } => "delivered",
        OutboxState::Dead { .. } => "dead",
    }
}

/// Attempts so far, the moment of the state, and the last error.
fn progress(state: &OutboxState) -> (u32, String, Option<&str>) {
    match state {
        OutboxState::Pending { attempts, due, last_error, .. } => (*attempts, due.to_rfc3339(), last_error.as_deref()),
        OutboxState::Delivered { attempts, at, .. } => (*attempts, at.to_rfc3339(), None),
        OutboxState::Dead { attempts, at, last_error } => (*attempts, at.to_rfc3339(), Some(last_error)),
    }
}

fn json(message: &OutboxMessage) -> Value {
    let (attempts, at, last_error) = progress(&message.state);
    let pending = message.due().is_some();
    json!({
        "id": message.id,
        "operator": message.operator.as_str(),
        "delegation_id": message.delegation_id,
        "account_id": message.account_id,
        "trigger": message.trigger,
        "triggered_by": message.triggered_by,
        "reason": message.reason,
        "revoked_at": message.reason.map(|_| message.revoked_at.to_rfc3339()),
        "suspended_at": message.reason.is_none().then(|| message.revoked_at.to_rfc3339()),
        "state": word(&message.state),
        "attempts": attempts,
        "next_attempt_at": pending.then_some(&at),
        "ended_at": (!pending).then_some(&at),
        "last_error": last_error,
    })
}
