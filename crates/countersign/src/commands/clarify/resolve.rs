//! `countersign clarify resolve SESSION GAP ANSWER`: the agent's own answer.

use super::{
    connection::{ClarifyClient, failed},
    document::session_id,
};
use crate::{context::Context, failure::Failure, table::printable};
use countersign_protocol::{
    clarification::submission::{ResolveResponse, ResolveStatus},
    mplp::MplpId,
};
use serde_json::to_value;

/// Answer a gap as the agent. Ends with 1 if the answer is not accepted, or if only a person may answer: then one is
/// asked
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[arg(value_name = "SESSION", value_parser = session_id)]
    session: MplpId,

    /// The gap, such as gap-001.
    #[arg(value_name = "GAP")]
    gap: String,

    /// The answer; `accept` settles a WARN.
    #[arg(value_name = "ANSWER", allow_hyphen_values = true)]
    answer: String,
}

pub(super) async fn run(
    arguments: &Arguments,
    connection: &ClarifyClient,
    json: bool,
    context: &Context,
) -> Result<(), Failure> {
    let clarifications = connection.resolve(context)?;
    let answered = clarifications.answer(&arguments.session, &arguments.gap, &arguments.answer).await;
    let became = answered.map_err(failed)?;
    match json {
        true => context.say_json(&to_value(&became).map_err(|why| Failure::new(why.to_string()))?)?,
        false => context.say(&text(&became))?,
    }
    if became.status == ResolveStatus::Resolved { Ok(()) } else { Err(Failure::told()) }
}

fn text(became: &ResolveResponse) -> String {
    let gap = printable(&became.gap_id);
    let left = match became.open_gaps {
        0 => "no gap is open any more".to_owned(),
        1 => "1 gap is open".to_owned(),
        n => format!("{n} gaps are open"),
    };
    let mut lines = match became.status {
        ResolveStatus::Resolved => {
            let answer = became.accepted_answer.as_deref().unwrap_or_default();
            vec![format!("{gap} is resolved by the agent itself: {}", printable(answer))]
        }
        ResolveStatus::Escalated => {
            let reason = became.reason.as_deref().unwrap_or("the answer was not accepted");
            vec![format!("{gap} stays open: {}", printable(reason))]
        }
    };
    if let Some(decision) = &became.decision_id {
        lines.push(format!("  A person is asked: decision {}", printable(decision)));
    }
    lines.extend(became.page.as_ref().map(|page| format!("  Page: {}", printable(page))));
    lines.push(left);
    lines.iter().map(|line| format!("{line}\n")).collect()
}
