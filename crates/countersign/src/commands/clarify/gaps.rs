//! `countersign clarify gaps SESSION`: what is open now.

use super::{
    connection::{Connection, failed},
    document::session_id,
    told,
};
use crate::{context::Context, failure::Failure};
use countersign_protocol::mplp::MplpId;

/// List what is open in a session. Ends with 0 if nothing is, with 1 if something is
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[arg(value_name = "SESSION", value_parser = session_id)]
    session: MplpId,
}

pub(super) async fn run(
    arguments: &Arguments,
    connection: &Connection,
    json: bool,
    context: &Context,
) -> Result<(), Failure> {
    let response = connection.resolve(context)?.gaps(&arguments.session).await.map_err(failed)?;
    told::standing(&response, json, context)
}
