//! `countersign man DIR`: a manual page for each command, with the texts of `--help`.

use crate::{cli::Cli, context::Context, failure::Failure};
use clap::CommandFactory as _;
use std::path::PathBuf;

/// Write a manual page for each command into a folder
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The folder to write into, created if missing.
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let dir = &arguments.dir;
    let written = std::fs::create_dir_all(dir).and_then(|()| clap_mangen::generate_to(Cli::command(), dir));
    written.map_err(|why| {
        let failure = Failure::new(format!("cannot write into {}: {why}", dir.display()));
        failure.hint("name a folder that you may write to")
    })?;
    context.say(&format!("wrote the pages into {0}; read one with: man {0}/countersign.1\n", dir.display()))
}
