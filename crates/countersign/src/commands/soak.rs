//! `countersign soak …`: hands over to the program of the benchmarks, like `countersign bench`.

use super::bench::hand_over;
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

pub(crate) fn run(arguments: &Arguments, _: &Context) -> Result<(), Failure> {
    let soak = [OsString::from("soak")];
    hand_over(soak.iter().chain(&arguments.arguments))
}
