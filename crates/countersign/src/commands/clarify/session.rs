//! A clarification session at a service: a plan is submitted, its gaps are answered, and the result is fetched.

use super::{
    connection::{ClarifyClient, failed},
    gap_lines, report,
};
use crate::{
    commands::documents::{self, mplp_id},
    context::Context,
    failure::Failure,
    table::printable,
};
use countersign_client::clarification::ProvenDocument;
use countersign_protocol::{
    clarification::submission::{CheckRequest, ConfirmResponse, PlanAccepted, ResolveResponse, ResolveStatus},
    mplp::MplpId,
};
use std::path::PathBuf;

/// Submit a plan and list its gaps. Submitting the same plan again continues its session
#[derive(Debug, clap::Args)]
pub(super) struct SubmitArguments {
    /// The plan as JSON, or - for standard input.
    #[arg(value_name = "PLAN")]
    plan: PathBuf,

    /// Continue this session: the plan replaces the previous one.
    #[arg(long, value_name = "ID", value_parser = mplp_id)]
    session: Option<MplpId>,
}

pub(super) async fn submit(
    arguments: &SubmitArguments,
    connection: &ClarifyClient,
    json: bool,
    context: &Context,
) -> Result<(), Failure> {
    let clarifications = connection.resolve(context)?;
    let plan_object = documents::plan_object(&arguments.plan)?;
    let request = CheckRequest { plan_object, session_id: arguments.session.clone(), protocol_version: None };
    let response = clarifications.check(&request).await.map_err(failed)?;
    gap_lines::print_state(&response, json, context)
}

/// Answer a gap as the agent. Ends with 1 if the answer is not accepted, or if only a person may answer: then one is
/// asked
#[derive(Debug, clap::Args)]
pub(super) struct ResolveArguments {
    #[arg(value_name = "SESSION", value_parser = mplp_id)]
    session: MplpId,

    /// The gap, such as gap-001.
    #[arg(value_name = "GAP")]
    gap: String,

    /// The answer; `accept` settles a WARN.
    #[arg(value_name = "ANSWER", allow_hyphen_values = true)]
    answer: String,
}

pub(super) async fn resolve(
    arguments: &ResolveArguments,
    connection: &ClarifyClient,
    json: bool,
    context: &Context,
) -> Result<(), Failure> {
    let clarifications = connection.resolve(context)?;
    let answered = clarifications.answer(&arguments.session, &arguments.gap, &arguments.answer).await;
    let response = answered.map_err(failed)?;
    context.say_document(&response, json, resolved_text)?;
    if response.status == ResolveStatus::Resolved { Ok(()) } else { Err(Failure::told()) }
}

fn resolved_text(response: &ResolveResponse) -> String {
    let gap = printable(&response.gap_id);
    let left = match response.open_gaps {
        0 => "no gap is open any more".to_owned(),
        1 => "1 gap is open".to_owned(),
        n => format!("{n} gaps are open"),
    };
    let mut lines = match response.status {
        ResolveStatus::Resolved => {
            let answer = response.accepted_answer.as_deref().unwrap_or_default();
            vec![format!("{gap} is resolved by the agent itself: {}", printable(answer))]
        }
        ResolveStatus::Escalated => {
            let reason = response.reason.as_deref().unwrap_or("the answer was not accepted");
            vec![format!("{gap} stays open: {}", printable(reason))]
        }
    };
    if let Some(decision) = &response.decision_id {
        lines.push(format!("  A person is asked: decision {}", printable(decision)));
    }
    lines.extend(response.page.as_ref().map(|page| format!("  Page: {}", printable(page))));
    lines.push(left);
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[derive(Debug, clap::Subcommand)]
pub(super) enum SessionCommand {
    /// List the open gaps of a session. Ends with 0 if there are none, with 1 if there are any
    Gaps(SessionArgument),
    /// Confirm a plan without open gaps: it is accepted with its answers, and attested. An MPLP plan is then proposed
    ///
    /// Ends with 1 while a gap is open, be it only a WARN. With --json the accepted plan is printed too.
    Confirm(SessionArgument),
    /// Fetch and verify all questions and answers. With --json they are printed as `clarify verify` reads them
    Audit(SessionArgument),
    /// Fetch and verify the handoff to another agent: the accepted plan with its chain. With --json it is printed as
    /// `clarify verify` reads it
    Handoff(SessionArgument),
    /// Abandon a session: it asks nothing any more, its gaps stop nothing, and its plan is never confirmed
    ///
    /// Gaps that a person must answer still stop irreversible calls that no person approved since, until a person abandons
    /// the session as well (on the page of the question) or it expires.
    Abandon(SessionArgument),
}

#[derive(Debug, clap::Args)]
pub(super) struct SessionArgument {
    #[arg(value_name = "SESSION", value_parser = mplp_id)]
    session: MplpId,
}

pub(super) async fn run(
    command: &SessionCommand,
    connection: &ClarifyClient,
    json: bool,
    context: &Context,
) -> Result<(), Failure> {
    let service = connection.resolve(context)?;
    match command {
        SessionCommand::Gaps(of) => {
            let response = service.gaps(&of.session).await.map_err(failed)?;
            gap_lines::print_state(&response, json, context)
        }
        SessionCommand::Confirm(of) => confirmed(&service.confirm(&of.session).await.map_err(failed)?, json, context),
        SessionCommand::Audit(of) => proven(&service.audit(&of.session).await.map_err(failed)?, json, context),
        SessionCommand::Abandon(of) => {
            let status = service.abandon(&of.session).await.map_err(failed)?;
            context.say_document(&status, json, |status| format!("session {} is abandoned\n", status.session_id))
        }
        SessionCommand::Handoff(of) => proven(&service.handoff(&of.session).await.map_err(failed)?, json, context),
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
        ConfirmResponse::Refused(open) => gap_lines::print_state(open, json, context),
        ConfirmResponse::Accepted(accepted) => context.say_document(accepted.as_ref(), json, accepted_text),
    }
}

fn accepted_text(accepted: &PlanAccepted) -> String {
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
