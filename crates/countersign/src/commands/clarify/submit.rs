//! `countersign clarify submit PLAN`: a session about a plan.

use super::{
    connection::{ClarifyClient, failed},
    document::{self, session_id},
    gap_lines,
};
use crate::{context::Context, failure::Failure};
use countersign_protocol::{clarification::submission::CheckRequest, mplp::MplpId};
use std::path::PathBuf;

/// Submit a plan and list its gaps. Submitting the same plan again continues its session
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The plan as JSON, or - for standard input.
    #[arg(value_name = "PLAN")]
    plan: PathBuf,

    /// Continue this session: the plan replaces the previous one.
    #[arg(long, value_name = "ID", value_parser = session_id)]
    session: Option<MplpId>,
}

pub(super) async fn run(
    arguments: &Arguments,
    connection: &ClarifyClient,
    json: bool,
    context: &Context,
) -> Result<(), Failure> {
    let clarifications = connection.resolve(context)?;
    let plan_object = document::plan(&arguments.plan)?;
    let asked = CheckRequest { plan_object, session_id: arguments.session.clone(), protocol_version: None };
    let response = clarifications.check(&asked).await.map_err(failed)?;
    gap_lines::standing(&response, json, context)
}
