//! `countersign plan propose FILE`: writes and proposes a plan, and waits for the decision on request.

use super::connection::{Connected, failed, not_waited};
use crate::{commands::documents, context::Context, failure::Failure, span, table::printable};
use countersign_protocol::{
    decisions::{DecisionDocument, State},
    mplp::{MplpId, ProposeRequest},
};
use serde_json::json;
use std::{path::PathBuf, time::Duration};

/// Longer than any question about a plan stays pending.
const PATIENCE: Duration = Duration::from_secs(25 * 3600);

/// Write a plan and ask the entitled people to approve it
///
/// With --wait it ends with 0 when the plan was approved, and with 1 when it was not.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The plan as JSON, or - for standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Ask under this role, by name or id: one of the agent's own.
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,

    /// The reason, for the people deciding.
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,

    /// How long people have to answer, such as 30m; the project's usual time if absent.
    #[arg(long, value_name = "TIME", value_parser = span::seconds)]
    timeout: Option<i64>,

    /// Wait for the decision, or for the deadline.
    #[arg(long)]
    wait: bool,
}

pub(super) async fn run(
    arguments: &Arguments,
    connected: &Connected,
    json: bool,
    context: &Context,
) -> Result<(), Failure> {
    let submission = documents::plan_submission(&arguments.file)?;
    let mplp = connected.mplp();
    let plan = mplp.write(&submission).await.map_err(failed)?.plan_id;
    let ask = ProposeRequest {
        requested_by_role: arguments.role.clone(),
        reason: arguments.reason.clone(),
        timeout_seconds: arguments.timeout,
    };
    let proposed = mplp.propose(&plan, &ask).await.map_err(failed)?;
    let decision = connected.decisions().get(&proposed.decision_id).await.map_err(not_waited)?;
    if !arguments.wait {
        return print_proposed(&plan, &decision, &proposed.confirm.confirm_id, json, context);
    }
    if !json {
        print_proposed(&plan, &decision, &proposed.confirm.confirm_id, false, context)?;
    }
    let settled = connected.decisions().wait(&proposed.decision_id, PATIENCE).await.map_err(not_waited)?;
    print_settled(&plan, &settled, &proposed.confirm.confirm_id, json, context)
}

fn print_proposed(
    plan: &MplpId,
    decision: &DecisionDocument,
    confirm: &MplpId,
    json: bool,
    context: &Context,
) -> Result<(), Failure> {
    let deadline = decision.deadline.map(|deadline| deadline.to_rfc3339());
    if json {
        let told = json!({ "plan_id": plan, "confirm_id": confirm, "decision_id": decision.decision_id,
            "status": "proposed", "deadline": deadline, "page": decision.page });
        return context.say_json(&told);
    }
    let until = deadline.map(|deadline| format!(", until {deadline}")).unwrap_or_default();
    context.say(&format!(
        "plan {plan} is proposed: the approval is pending{until}\n  Confirm   {confirm}\n  Decision  {}\n  Page      {}\n",
        decision.decision_id,
        printable(&decision.page)
    ))
}

fn print_settled(
    plan: &MplpId,
    decision: &DecisionDocument,
    confirm: &MplpId,
    json: bool,
    context: &Context,
) -> Result<(), Failure> {
    let approved = decision.state == State::Accepted;
    let (word, hint) = in_words(decision.state);
    let reason = decision.reason.as_deref();
    if json {
        let told = json!({ "plan_id": plan, "confirm_id": confirm, "decision_id": decision.decision_id,
            "status": if approved { "approved" } else { "draft" }, "decision": decision.state, "reason": reason });
        context.say_json(&told)?;
        return if approved { Ok(()) } else { Err(Failure::told()) };
    }
    let because = reason.map(|reason| format!(": {}", printable(reason))).unwrap_or_default();
    match approved {
        true => context.say(&format!("plan {plan} was {word}{because}\n")),
        false => Err(Failure::new(format!("plan {plan} was {word}{because}")).hint(hint)),
    }
}

/// The outcome of the question, and the next step.
fn in_words(state: State) -> (&'static str, &'static str) {
    match state {
        State::Accepted => ("approved", ""),
        State::Rejected => ("rejected", "it is a draft again: change it and propose it again"),
        State::Expired => ("not answered in time", "it is a draft again: propose it again when a person is available"),
        _ => ("cancelled", "it is a draft again"),
    }
}
