//! `countersign bench …`: hands over to the benchmarks, which are a program of their own.
//!
//! They need what tests are made of, and nothing of that belongs into this program.

use crate::{context::Context, failure::Failure};
use std::{ffi::OsString, path::Path, process::Command};

const PROGRAM: &str = "countersign-bench";

/// Measure this build against what people use instead; everything after `bench` is for the benchmarks
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// What to measure, and how: `gateway --json`, say; `gateway --help` tells the rest.
    #[arg(value_name = "BENCHMARK", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

pub(crate) fn run(arguments: &Arguments, _: &Context) -> Result<(), Failure> {
    let own =
        std::env::current_exe().map_err(|why| Failure::new(format!("where this program lies is unknown: {why}")))?;
    let program = own.with_file_name(format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX));
    if !program.is_file() {
        return Err(missing(&program));
    }
    let ended = Command::new(&program).args(&arguments.arguments).status();
    let ended = ended.map_err(|why| Failure::new(format!("{} does not start: {why}", program.display())))?;
    // It has said itself what is wrong.
    if ended.success() { Ok(()) } else { Err(Failure::told()) }
}

fn missing(program: &Path) -> Failure {
    Failure::new(format!("the benchmarks are not built: {} is missing", program.display()))
        .hint("cargo build --release -p countersign-bench")
}
