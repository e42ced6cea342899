//! `countersign webhooks show ID`

use super::{json, progress, word};
use crate::{cli::Reading, context::Context, failure::Failure, operations, table::printable};
use countersign_server::admin::{OutboxMessage, OutboxState, ShowWebhookMessage};

/// Show one message: its content, its attempts, and the reason why the last one failed
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The message's id from `countersign webhooks list`; receivers get it as `webhook-id`.
    id: String,

    /// The project. May be omitted if there is only one.
    #[arg(long, value_name = "ID")]
    project: Option<String>,

    #[command(flatten)]
    reading: Reading,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let request = ShowWebhookMessage { project: arguments.project.clone(), id: arguments.id.clone() };
    let message = operations::ask(context, request)?;
    if arguments.reading.json {
        return context.say_json(&json(&message));
    }
    context.say(&lines(&message))
}

fn lines(message: &OutboxMessage) -> String {
    let (attempts, at, last_error) = progress(&message.state);
    let mut lines = vec![
        format!("message: {}", message.id),
        format!("operator: {}", message.operator),
        format!("delegation: {}", message.delegation_id),
        format!("account: {}", printable(&message.account_id)),
        format!(
            "{} at: {}",
            if message.reason.is_some() { "revoked" } else { "suspended" },
            message.revoked_at.to_rfc3339()
        ),
        format!("trigger: {}, by {}", message.trigger, message.triggered_by),
        format!("state: {}", word(&message.state)),
        format!("attempts: {attempts}"),
    ];
    lines.push(match &message.state {
        OutboxState::Pending { .. } => format!("next attempt at: {at}"),
        OutboxState::Delivered { .. } => format!("delivered at: {at}"),
        OutboxState::Dead { .. } => format!("given up at: {at}"),
    });
    lines.extend(last_error.map(|why| format!("last error: {}", printable(why))));
    if matches!(message.state, OutboxState::Dead { .. }) {
        lines.push(format!("to send it again: countersign webhooks replay {}", message.id));
    }
    lines.join("\n") + "\n"
}
