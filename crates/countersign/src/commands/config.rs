//! `countersign config …`: read the configuration back and explain it.

use crate::{cli::Reading, context::Context, failure::Failure};
use clap::Subcommand;
use countersign_server::config::{self, ConfigErrors, Loaded};

/// Check the configuration of the node
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check the configuration: print its problems, or the source of each value
    Check {
        #[command(flatten)]
        reading: Reading,
    },
}

pub(crate) fn run(command: Command, context: &Context) -> Result<(), Failure> {
    let Command::Check { reading } = command;
    match context.load() {
        Ok(loaded) if reading.json => context.say_json(&config::explain_json(&loaded)),
        Ok(loaded) => context.say(&explained(&loaded, context)),
        Err(errors) if reading.json => refused(&errors, context),
        Err(errors) => Err(errors.into()),
    }
}

fn explained(loaded: &Loaded, context: &Context) -> String {
    if context.terminal.accessible { config::explain_as_sentences(loaded) } else { config::explain(loaded) }
}

fn refused(errors: &ConfigErrors, context: &Context) -> Result<(), Failure> {
    context.say_json(&config::problems_json(errors))?;
    Err(Failure::told())
}
