//! `countersign inbox undo ID`

use super::connection::{Connected, not_answered};
use crate::{context::Context, failure::Failure, table::printable};
use serde_json::json;

/// Undo an approved call, and end
///
/// A service may hold approved calls for some seconds before it sends them, or undo them for some time afterwards.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The question that was approved.
    id: String,

    /// The call, if the approval covered several.
    #[arg(long, value_name = "CALL_ID")]
    call: Option<String>,
}

pub(super) async fn run(
    arguments: &Arguments,
    connected: &Connected,
    json: bool,
    context: &Context,
) -> Result<(), Failure> {
    let undone = connected.replier().undo(&arguments.id, arguments.call.as_deref()).await.map_err(not_answered)?;
    if json {
        return context.say_line(&json!(undone));
    }
    context.say(&format!("{} is undone\n", printable(&undone.decision_id)))
}
