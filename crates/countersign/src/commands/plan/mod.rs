//! `countersign plan …`: an agent's plans, from the terminal or a script, over HTTP.

pub(in crate::commands) mod connection;
mod diff;
mod propose;
mod show;
pub(in crate::commands) mod texts;
mod watch;

use crate::{context::Context, engine, failure::Failure};
use clap::Subcommand;
use connection::Connection;

/// Have a plan approved once, and see its progress
///
/// The service decides call by call which steps run without a further question. The agent's API key comes from the
/// variable COUNTERSIGN_API_KEY or from a file; `countersign key add --kind agent` makes one.
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
    Propose(propose::Arguments),
    Show(show::Arguments),
    Diff(diff::Arguments),
    Watch(watch::Arguments),
}

pub(crate) fn run(arguments: Arguments, context: &Context) -> Result<(), Failure> {
    let Arguments { connection, json, command } = arguments;
    let connected = connection.resolve(context)?;
    engine::runtime()?.block_on(async {
        match command {
            Command::Propose(arguments) => propose::run(&arguments, &connected, json, context).await,
            Command::Show(arguments) => show::run(&arguments, &connected, json, context).await,
            Command::Diff(arguments) => diff::run(&arguments, &connected, json, context).await,
            Command::Watch(arguments) => watch::run(&arguments, &connected, json, context).await,
        }
    })
}
