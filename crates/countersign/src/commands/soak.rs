//! `countersign soak …`: starts the benchmark program, like `countersign bench`.

use super::bench::{hand_over, program};
use crate::{context::Context, failure::Failure};
use std::ffi::OsString;

/// Load this build for minutes or hours while its nodes are killed, stopped, starved and restored; `--help` has the options
///
/// Nothing may be done twice, lost, falsely denied, stuck or contradicted: then the exit code is 0, else 1.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Arguments {
    /// How long and how: `--minutes 10 --postgres --plot soak.svg`, say.
    #[arg(value_name = "OPTIONS", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// The help shown while the benchmark program, which has the options, is not built.
const HELP: &str = "Load this build for minutes or hours while its nodes are killed, stopped, starved and restored\n\n\
                    The options are those of a program that is not built: cargo build --release -p countersign-bench\n";

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let asks_for_help = arguments.arguments.iter().any(|argument| argument == "--help" || argument == "-h");
    if asks_for_help && !program()?.is_file() {
        return context.say(HELP);
    }
    let soak = [OsString::from("soak")];
    hand_over(soak.iter().chain(&arguments.arguments))
}
