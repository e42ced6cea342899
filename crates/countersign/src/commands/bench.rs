//! `countersign bench …` and `countersign soak …`: start the benchmarks, which are a separate program.
//!
//! They depend on test tooling, which does not belong in this program.

use crate::{context::Context, failure::Failure};
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

const PROGRAM: &str = "countersign-bench";

/// Measure this build against common alternatives; arguments after `bench` are passed to the benchmarks
#[derive(Debug, clap::Args)]
pub(crate) struct BenchArguments {
    /// The benchmark and its options, such as `gateway --json`; `gateway --help` lists them.
    #[arg(value_name = "BENCHMARK", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

pub(crate) fn bench(arguments: &BenchArguments) -> Result<(), Failure> {
    hand_over(arguments.arguments.iter())
}

/// Load this build for minutes or hours while its nodes are killed, stopped, starved and restored; `--help` has the options
///
/// Nothing may be done twice, lost, falsely denied, stuck or contradicted: then the exit code is 0, else 1.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct SoakArguments {
    /// How long and how: `--minutes 10 --postgres --plot soak.svg`, say.
    #[arg(value_name = "OPTIONS", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// The help shown while the benchmark program, which has the options, is not built.
const HELP: &str = "Load this build for minutes or hours while its nodes are killed, stopped, starved and restored\n\n\
                    The options are those of a program that is not built: cargo build --release -p countersign-bench\n";

pub(crate) fn soak(arguments: &SoakArguments, context: &Context) -> Result<(), Failure> {
    let asks_for_help = arguments.arguments.iter().any(|argument| argument == "--help" || argument == "-h");
    if asks_for_help && !program()?.is_file() {
        return context.say(HELP);
    }
    let soak = [OsString::from("soak")];
    hand_over(soak.iter().chain(&arguments.arguments))
}

fn hand_over<'a>(arguments: impl Iterator<Item = &'a OsString>) -> Result<(), Failure> {
    let program = program()?;
    if !program.is_file() {
        return Err(missing(&program));
    }
    let ended = Command::new(&program).args(arguments).status();
    let ended = ended.map_err(|why| Failure::new(format!("{} does not start: {why}", program.display())))?;
    // The benchmark program has printed the error.
    if ended.success() { Ok(()) } else { Err(Failure::told()) }
}

/// The path of the benchmark program: beside this one, if it was built.
fn program() -> Result<PathBuf, Failure> {
    let own =
        std::env::current_exe().map_err(|why| Failure::new(format!("the path of this program is unknown: {why}")))?;
    Ok(own.with_file_name(format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX)))
}

fn missing(program: &Path) -> Failure {
    Failure::new(format!("the benchmarks are not built: {} is missing", program.display()))
        .hint("cargo build --release -p countersign-bench")
}
