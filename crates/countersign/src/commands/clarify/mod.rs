//! `countersign clarify …`: the gaps in a plan, their answers, and the proof of both.

mod abandon;
mod check;
mod connection;
mod document;
mod gap_lines;
mod keys;
mod one_session;
mod report;
mod resolve;
mod rotate_key;
mod rules;
mod source;
mod submit;
mod verify;

use crate::{context::Context, engine, failure::Failure};
use clap::Subcommand;
use connection::ClarifyClient;

/// Find the gaps in a plan, have them answered, and prove each answer's source
///
/// `check`, `rules` and `verify` work offline; the others call a service. The agent's API key comes from the variable
/// COUNTERSIGN_API_KEY or from a file. All of them end with 0 on success, with 1 on a negative result (an open gap, a
/// failed case, a failed proof), and with 2 when the result cannot be determined.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    connection: ClarifyClient,

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

/// A negative result has already been printed, so any other failure ends with 2.
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

fn over_http(command: &Command, connection: &ClarifyClient, json: bool, context: &Context) -> Result<(), Failure> {
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
