//! `countersign clarify …`: the gaps in a plan, their answers, and the proof of both.

mod check;
mod connection;
mod gap_lines;
mod keys;
mod report;
mod rules;
mod session;
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
    Submit(session::SubmitArguments),
    Resolve(session::ResolveArguments),
    #[command(flatten)]
    Session(session::SessionCommand),
    /// List the keys with which the service asks and signs. Needs no API key
    Keys,
    /// Replace the signing key; takes an admin's API key. Signatures of the old key stay verifiable
    RotateKey,
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
            Command::Keys => keys::list(connection, json, context).await,
            Command::Submit(arguments) => session::submit(arguments, connection, json, context).await,
            Command::Resolve(arguments) => session::resolve(arguments, connection, json, context).await,
            Command::Session(command) => session::run(command, connection, json, context).await,
            Command::RotateKey => keys::rotate(connection, json, context).await,
            Command::Check(_) | Command::Rules(_) | Command::Verify(_) => Ok(()),
        }
    })
}
