//! `countersign db vacuum`

use crate::{commands::restore::failure, context::Context, engine, failure::Failure};
use countersign_server::vacuum_database;

/// Make a SQLite file as small as its contents, once; later its node gives free pages back by itself
///
/// The node must be stopped, and there must be as much room on the disk again as the file takes. PostgreSQL does this by
/// itself.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(context: &Context) -> Result<(), Failure> {
    let loaded = context.load_for_command()?;
    let rewritten = engine::runtime()?.block_on(vacuum_database(&loaded.config));
    let (before, after) = rewritten.map_err(failure)?;
    context.say(&format!("{before} bytes before, {after} bytes now; free pages are given back from now on\n"))
}
