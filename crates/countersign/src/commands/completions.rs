//! `countersign completions SHELL`: a shell completion script.

use crate::{cli::Cli, context::Context, failure::Failure};
use clap::CommandFactory as _;
use clap_complete::Shell;

/// Print a shell completion script
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The shell that will read the script.
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "countersign", &mut script);
    context.say(&String::from_utf8_lossy(&script))
}
