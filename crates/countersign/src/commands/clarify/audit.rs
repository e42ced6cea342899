//! `countersign clarify audit SESSION`: everything that was asked and answered.

use super::{
    connection::{Connection, failed},
    document::session_id,
    report,
};
use crate::{context::Context, failure::Failure};
use countersign_protocol::mplp::MplpId;

/// Fetch and prove everything that was asked and answered. With --json it is printed as `clarify verify` reads it
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
    let audit = connection.resolve(context)?.audit(&arguments.session).await.map_err(failed)?;
    match json {
        true => context.say_json(&audit.document),
        false => context.say(&report::text(&audit.report)),
    }
}
