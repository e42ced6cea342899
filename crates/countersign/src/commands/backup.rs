//! `countersign backup FILE`: a copy of the database, also of a running node.

use crate::{commands::restore::failure, context::Context, engine, failure::Failure};
use anstyle::AnsiColor;
use countersign_server::back_up_database;
use std::{io::IsTerminal as _, path::PathBuf};

/// Copy the SQLite database into a new file; a node may be running. PostgreSQL: use pg_dump
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The file to create. It must not exist yet; only its owner will be able to read it.
    file: PathBuf,
}

pub(crate) fn run(arguments: Arguments, context: &Context) -> Result<(), Failure> {
    let loaded = context.load_for_command()?;
    engine::log(false, "warn");
    let shown = arguments.file.display().to_string();
    let watched = std::io::stderr().is_terminal();
    let told = |bytes: u64, of: u64| {
        if watched {
            context.terminal.note("copying", AnsiColor::Cyan, &format!("{} of about {} MiB", bytes >> 20, of >> 20));
        }
    };
    let copied = engine::runtime()?.block_on(back_up_database(&loaded.config, arguments.file, told));
    let bytes = copied.map_err(failure)?;
    context.say(&format!(
        "wrote {shown}: {bytes} bytes, checked\n\
         keep it apart from the key that seals its contents ([keys]), and keep a copy of that key too\n"
    ))
}
