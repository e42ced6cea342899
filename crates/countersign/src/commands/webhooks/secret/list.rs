//! `countersign webhooks secret list`

use super::json;
use crate::{cli::Reading, context::Context, failure::Failure, operations, table::Table};
use countersign_server::admin::{ListWebhookSecrets, ListedWebhookSecret};
use serde_json::Value;

/// List the active webhook secrets by their ids, without their content
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The project. May be omitted if there is only one.
    #[arg(long, value_name = "ID")]
    project: Option<String>,

    #[command(flatten)]
    reading: Reading,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let found = operations::ask(context, ListWebhookSecrets { project: arguments.project.clone() })?;
    if arguments.reading.json {
        return context.say_json(&found.iter().map(json).collect::<Value>());
    }
    context.list(&Table {
        head: ["secret", "operator", "created"],
        rows: found.iter().map(row).collect(),
        none: "no operator is enrolled: make a secret with `countersign webhooks secret create OPERATOR`",
    })
}

fn row(secret: &ListedWebhookSecret) -> [String; 3] {
    [secret.id.clone(), secret.operator.to_string(), secret.created_at.to_rfc3339()]
}
