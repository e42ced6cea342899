//! `countersign clarify gaps|confirm|audit|handoff SESSION`: commands that take only a session id.

use super::{
    connection::{ClarifyClient, failed},
    document::session_id,
    gap_lines, report,
};
use crate::{context::Context, failure::Failure, table::printable};
use countersign_client::clarification::ProvenDocument;
use countersign_protocol::{
    clarification::submission::{ConfirmResponse, PlanAccepted},
    mplp::MplpId,
};
use serde_json::to_value;

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// List the open gaps of a session. Ends with 0 if there are none, with 1 if there are any
    Gaps(Arguments),
    /// Confirm a plan without open gaps: it is accepted with its answers, and attested. An MPLP plan is then proposed
    ///
    /// Ends with 1 while a gap is open, be it only a WARN. With --json the accepted plan is printed too.
    Confirm(Arguments),
    /// Fetch and verify all questions and answers. With --json they are printed as `clarify verify` reads them
    Audit(Arguments),
    /// Fetch and verify the handoff to another agent: the accepted plan with its chain. With --json it is printed as
    /// `clarify verify` reads it
    Handoff(Arguments),
}

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[arg(value_name = "SESSION", value_parser = session_id)]
    session: MplpId,
}

pub(super) async fn run(
    command: &Command,
    connection: &ClarifyClient,
    json: bool,
    context: &Context,
) -> Result<(), Failure> {
    let service = connection.resolve(context)?;
    match command {
        Command::Gaps(of) => {
            let response = service.gaps(&of.session).await.map_err(failed)?;
            gap_lines::standing(&response, json, context)
        }
        Command::Confirm(of) => confirmed(&service.confirm(&of.session).await.map_err(failed)?, json, context),
        Command::Audit(of) => proven(&service.audit(&of.session).await.map_err(failed)?, json, context),
        Command::Handoff(of) => proven(&service.handoff(&of.session).await.map_err(failed)?, json, context),
    }
}

fn proven(proven: &ProvenDocument, json: bool, context: &Context) -> Result<(), Failure> {
    match json {
        true => context.say_json(&proven.document),
        false => context.say(&report::text(&proven.report)),
    }
}

fn confirmed(response: &ConfirmResponse, json: bool, context: &Context) -> Result<(), Failure> {
    match response {
        ConfirmResponse::Refused(open) => gap_lines::standing(open, json, context),
        ConfirmResponse::Accepted(accepted) if json => {
            context.say_json(&to_value(accepted).map_err(|why| Failure::new(why.to_string()))?)
        }
        ConfirmResponse::Accepted(accepted) => context.say(&text(accepted)),
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
