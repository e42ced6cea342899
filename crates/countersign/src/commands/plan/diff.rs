//! `countersign plan diff ID [FILE]`: the changes since the plan was last proposed, or the changes a file would make.

use super::connection::{Connected, failed};
use crate::{
    commands::documents::{self, mplp_id},
    context::Context,
    failure::Failure,
    table::printable,
};
use countersign_protocol::mplp::MplpId;
use serde_json::json;
use std::path::PathBuf;

/// Show the changes since the plan was last proposed, or the changes a file would make. Ends with 0 if there are none,
/// with 1 if there are any
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[arg(value_name = "ID", value_parser = mplp_id)]
    id: MplpId,

    /// The plan to compare. Nothing is written.
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

pub(super) async fn run(
    arguments: &Arguments,
    connected: &Connected,
    json: bool,
    context: &Context,
) -> Result<(), Failure> {
    let (mplp, id) = (connected.mplp(), &arguments.id);
    let (lines, nothing) = match &arguments.file {
        Some(path) => {
            (mplp.difference(id, &documents::plan_submission(path)?).await, "the file and the plan are the same")
        }
        None => (mplp.changes(id).await, "nothing has changed since it was last proposed, or it was never proposed"),
    };
    let lines = lines.map_err(failed)?;
    if json {
        context.say_json(&json!({ "plan_id": id, "lines": lines }))?;
    } else if lines.is_empty() {
        context.say(&format!("plan {id}: {nothing}\n"))?;
    } else {
        context.say(&lines.iter().map(|line| printable(line) + "\n").collect::<String>())?;
    }
    if lines.is_empty() { Ok(()) } else { Err(Failure::told()) }
}
