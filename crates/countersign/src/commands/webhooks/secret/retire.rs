//! `countersign webhooks secret retire OPERATOR ID`

use super::{json, operator};
use crate::{cli::Reading, context::Context, failure::Failure, operations};
use countersign_protocol::domain::Domain;
use countersign_server::admin::RetireWebhookSecret;
use serde_json::Value;

/// Retire a webhook secret: no message is signed with it any more
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The operator's domain.
    #[arg(value_parser = operator)]
    operator: Domain,

    /// The secret's id from `countersign webhooks secret list`. Not the secret itself.
    id: String,

    /// The project. May be omitted if there is only one.
    #[arg(long, value_name = "ID")]
    project: Option<String>,

    #[command(flatten)]
    reading: Reading,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let Arguments { operator, id, .. } = arguments;
    let request =
        RetireWebhookSecret { project: arguments.project.clone(), operator: operator.clone(), id: id.clone() };
    let remaining = operations::ask(context, request)?;
    if arguments.reading.json {
        return context.say_json(&remaining.iter().map(json).collect::<Value>());
    }
    let rest = match remaining.first() {
        Some(newest) => format!("{} signs", newest.id),
        None => "the operator has no other one and gets no messages until you create one".into(),
    };
    context.say(&format!("secret {id} of {operator} is retired; {rest}\n"))
}
