//! `countersign clarify …`: what is unclear in a plan, who answered it, and the proof of both.

mod abandon;
mod check;
mod connection;
mod document;
mod keys;
mod one_session;
mod report;
mod resolve;
mod rotate_key;
mod rules;
mod source;
mod submit;
mod told;
mod verify;

use crate::{context::Context, engine, failure::Failure};
use clap::Subcommand;
use connection::Connection;

/// Find what is unclear in a plan, have it answered, and prove who answered what
///
/// `check`, `rules` and `verify` work offline; the others speak to a service. The agent's API key comes from the
/// variable COUNTERSIGN_API_KEY or from a file. All of them end with 0 when nothing is left to be said, with 1 when
/// something is (a gap is open, a case does not hold, a proof fails), and with 2 when nobody can tell.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    connection: Connection,

    /// Print JSON for programs instead of text for people.
    #[arg(long, global = true)]
    json: bool,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::Arguments),
    #[command(subcommand)]
    Rules(rules::Command),
    Verify(verify::Arguments),
    Submit(submit::Arguments),
    Resolve(resolve::Arguments),
    #[command(flatten)]
    OneSession(one_session::Command),
    Abandon(abandon::Arguments),
    Keys(keys::Arguments),
    RotateKey(rotate_key::Arguments),
}

/// An answer that is no is told by then, so whatever else fails is trouble.
pub(crate) fn run(arguments: Arguments, context: &Context) -> Result<(), Failure> {
    let Arguments { connection, json, command } = arguments;
    let done = match command {
        Command::Check(arguments) => check::run(&arguments, json, context),
        Command::Rules(command) => rules::run(&command, json, context),
        Command::Verify(arguments) => verify::run(&arguments, json, context),
        other => over_http(&other, &connection, json, context),
    };
    done.map_err(Failure::or_trouble)
}

fn over_http(command: &Command, connection: &Connection, json: bool, context: &Context) -> Result<(), Failure> {
    engine::runtime()?.block_on(async {
        match command {
            Command::Keys(_) => keys::run(connection, json, context).await,
            Command::Submit(arguments) => submit::run(arguments, connection, json, context).await,
            Command::Resolve(arguments) => resolve::run(arguments, connection, json, context).await,
            Command::OneSession(command) => one_session::run(command, connection, json, context).await,
            Command::Abandon(arguments) => abandon::run(arguments, connection, json, context).await,
            Command::RotateKey(_) => rotate_key::run(connection, json, context).await,
            Command::Check(_) | Command::Rules(_) | Command::Verify(_) => Ok(()),
        }
    })
}
