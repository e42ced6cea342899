//! `countersign clarify confirm SESSION`: from answered to accepted.

use super::{
    connection::{Connection, failed},
    document::session_id,
    told,
};
use crate::{context::Context, failure::Failure, table::printable};
use countersign_protocol::{
    clarification::submission::{ConfirmResponse, PlanAccepted},
    mplp::MplpId,
};
use serde_json::to_value;

/// Confirm a plan once nothing is open: it is accepted with its answers, and attested. A plan of MPLP is then proposed
///
/// Ends with 1 while a gap is open, be it only a WARN. With --json the accepted plan is printed too.
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
    match connection.resolve(context)?.confirm(&arguments.session).await.map_err(failed)? {
        ConfirmResponse::Refused(open) => told::standing(&open, json, context),
        ConfirmResponse::Accepted(accepted) if json => {
            context.say_json(&to_value(&accepted).map_err(|why| Failure::new(why.to_string()))?)
        }
        ConfirmResponse::Accepted(accepted) => context.say(&text(&accepted)),
    }
}

fn text(accepted: &PlanAccepted) -> String {
    let attestation = &accepted.attestation;
    let rounds = attestation.clarification.rounds;
    let mut lines = vec![
        format!("session {}: the plan is accepted", accepted.session_id),
        format!("attested {} by {}, after {rounds} rounds", attestation.issued_at, printable(&attestation.agent_id)),
    ];
    lines.extend(accepted.confirm_id.as_ref().map(|confirm| format!("people are asked about it: Confirm {confirm}")));
    lines.extend(accepted.decision_id.as_ref().map(|decision| format!("  Decision {}", printable(decision))));
    lines.iter().map(|line| format!("{line}\n")).collect()
}
