//! `countersign webhooks replay ID`

use super::json;
use crate::{cli::Reading, context::Context, failure::Failure, operations};
use countersign_server::admin::ReplayWebhookMessage;

/// Send a dead letter again, as the same message, for another day
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The message's id from `countersign webhooks list --dead`.
    id: String,

    /// The project. May be omitted if there is only one.
    #[arg(long, value_name = "ID")]
    project: Option<String>,

    #[command(flatten)]
    reading: Reading,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let request = ReplayWebhookMessage { project: arguments.project.clone(), id: arguments.id.clone() };
    let message = operations::ask(context, request)?;
    if arguments.reading.json {
        return context.say_json(&json(&message));
    }
    context.say(&format!("message {} is pending again; a running node sends it to {}\n", message.id, message.operator))
}
