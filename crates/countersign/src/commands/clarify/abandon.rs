//! `countersign clarify abandon SESSION`: abandons a session about a draft.

use super::{
    connection::{ClarifyClient, failed},
    document::session_id,
};
use crate::{context::Context, failure::Failure};
use countersign_protocol::mplp::MplpId;
use serde_json::to_value;

/// Abandon a session: it asks nothing any more, its gaps stop nothing, and its plan is never confirmed
///
/// Gaps that a person must answer still stop irreversible calls that no person approved since, until a person abandons
/// the session as well (on the page of the question) or it expires.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[arg(value_name = "SESSION", value_parser = session_id)]
    session: MplpId,
}

pub(super) async fn run(
    arguments: &Arguments,
    connection: &ClarifyClient,
    json: bool,
    context: &Context,
) -> Result<(), Failure> {
    let status = connection.resolve(context)?.abandon(&arguments.session).await.map_err(failed)?;
    match json {
        true => context.say_json(&to_value(&status).map_err(|why| Failure::new(why.to_string()))?),
        false => context.say(&format!("session {} is abandoned\n", status.session_id)),
    }
}
