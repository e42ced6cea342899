//! `countersign webhooks list`

use super::{json, progress, word};
use crate::{cli::Reading, context::Context, failure::Failure, operations, table::Table};
use countersign_server::admin::{ListWebhookMessages, OutboxMessage};
use serde_json::Value;

/// List the messages to operators' webhooks, newest first
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Only the dead letters: messages that no operator acknowledged within a day.
    #[arg(long)]
    dead: bool,

    /// The most messages to list.
    #[arg(long, value_name = "NUMBER", default_value_t = 100, value_parser = clap::value_parser!(i64).range(1..=10_000))]
    limit: i64,

    /// The project. May be omitted if there is only one.
    #[arg(long, value_name = "ID")]
    project: Option<String>,

    #[command(flatten)]
    reading: Reading,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let Arguments { dead, limit, .. } = *arguments;
    let request = ListWebhookMessages { project: arguments.project.clone(), dead, before: None, limit };
    let found = operations::ask(context, request)?;
    if arguments.reading.json {
        return context.say_json(&found.iter().map(json).collect::<Value>());
    }
    context.list(&Table {
        head: ["message", "operator", "delegation", "state", "attempts", "at", "last error"],
        rows: found.iter().map(row).collect(),
        none: if dead {
            "no message was given up"
        } else {
            "no message yet: none of an enrolled operator's delegations ended by itself"
        },
    })
}

fn row(message: &OutboxMessage) -> [String; 7] {
    let (attempts, at, last_error) = progress(&message.state);
    [
        message.id.clone(),
        message.operator.to_string(),
        message.delegation_id.clone(),
        word(&message.state).into(),
        attempts.to_string(),
        at,
        last_error.unwrap_or_default().into(),
    ]
}
