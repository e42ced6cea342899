//! `countersign bench …`: starts the benchmarks, which are a separate program.
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
pub(crate) struct Arguments {
    /// The benchmark and its options, such as `gateway --json`; `gateway --help` lists them.
    #[arg(value_name = "BENCHMARK", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

pub(crate) fn run(arguments: &Arguments, _: &Context) -> Result<(), Failure> {
    hand_over(arguments.arguments.iter())
}

pub(super) fn hand_over<'a>(arguments: impl Iterator<Item = &'a OsString>) -> Result<(), Failure> {
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
pub(super) fn program() -> Result<PathBuf, Failure> {
    let own =
        std::env::current_exe().map_err(|why| Failure::new(format!("the path of this program is unknown: {why}")))?;
    Ok(own.with_file_name(format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX)))
}

fn missing(program: &Path) -> Failure {
    Failure::new(format!("the benchmarks are not built: {} is missing", program.display()))
        .hint("cargo build --release -p countersign-bench")
}
