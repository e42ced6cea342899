//! `countersign clarify handoff SESSION`: what another agent is handed.

use super::{
    connection::{Connection, failed},
    document::session_id,
    report,
};
use crate::{context::Context, failure::Failure};
use countersign_protocol::mplp::MplpId;

/// Fetch and prove what another agent is handed: the accepted plan with its chain. With --json it is printed as `clarify verify` reads it
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
    let handoff = connection.resolve(context)?.handoff(&arguments.session).await.map_err(failed)?;
    match json {
        true => context.say_json(&handoff.document),
        false => context.say(&report::text(&handoff.report)),
    }
}
