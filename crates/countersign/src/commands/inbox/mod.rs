//! `countersign inbox`: a subscriber at the terminal. It receives agents' questions, reads them out, and sends the
//! answers.

mod allowances;
mod answer;
mod clarification;
mod commands;
mod connection;
mod list;
mod live;
mod more_time;
mod plan_steps;
mod runs;
mod scopes;
mod standing_limits;
mod tell;
mod undo;
mod view;

use crate::{context::Context, engine, failure::Failure};
use clap::Subcommand;
use connection::InboxClient;

/// Receive agents' questions and answer them: at the terminal, or from a script
///
/// Each new question is read out once: the action, its consequence, the requester, the author of the text, the risk,
/// and the time left. Type `help` for the answers. The subscriber token comes from the variable COUNTERSIGN_TOKEN or
/// from a file; `countersign token add` makes one.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    connection: InboxClient,

    /// One JSON object a line, for programs.
    #[arg(long, global = true)]
    json: bool,

    /// Only questions and their outcomes; no other events of agents.
    #[arg(long)]
    quiet: bool,

    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    List(list::Arguments),
    Answer(answer::Arguments),
    Respond(answer::RespondArguments),
    MoreTime(more_time::Arguments),
    Undo(undo::Arguments),
    #[command(visible_alias = "standing")]
    Allowances(allowances::Arguments),
    Revoke(allowances::RevokeArguments),
}

pub(crate) fn run(arguments: Arguments, context: &Context) -> Result<(), Failure> {
    let Arguments { connection, json, quiet, command } = arguments;
    let connected = connection.resolve(context)?;
    engine::runtime()?.block_on(async {
        match command {
            None => live::run(&connected, json, quiet, context).await,
            Some(Command::List(_)) => list::run(&connected, json, context).await,
            Some(Command::Answer(arguments)) => answer::run(&arguments, &connected, json, context).await,
            Some(Command::Respond(arguments)) => answer::respond(&arguments, &connected, json, context).await,
            Some(Command::MoreTime(arguments)) => more_time::run(&arguments, &connected, json, context).await,
            Some(Command::Undo(arguments)) => undo::run(&arguments, &connected, json, context).await,
            Some(Command::Allowances(_)) => allowances::run(&connected, json, context).await,
            Some(Command::Revoke(arguments)) => allowances::revoke(&arguments, &connected, json, context).await,
        }
    })
}
