//! `countersign webhooks secret …`: the secrets shared with operators.

mod create;
mod list;
mod retire;

use crate::{context::Context, failure::Failure};
use clap::Subcommand;
use countersign_protocol::domain::Domain;
use countersign_server::admin::ListedWebhookSecret;
use serde_json::{Value, json};

/// Create, list and retire the webhook secrets of operators; each may have two
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Create(create::Arguments),
    List(list::Arguments),
    Retire(retire::Arguments),
}

pub(crate) fn run(command: Command, context: &Context) -> Result<(), Failure> {
    match command {
        Command::Create(arguments) => create::run(&arguments, context),
        Command::List(arguments) => list::run(&arguments, context),
        Command::Retire(arguments) => retire::run(&arguments, context),
    }
}

pub(crate) fn operator(text: &str) -> Result<Domain, String> {
    Domain::parse(text).map_err(|why| why.to_string())
}

fn json(secret: &ListedWebhookSecret) -> Value {
    json!({
        "id": secret.id,
        "operator": secret.operator.as_str(),
        "created_at": secret.created_at.to_rfc3339(),
    })
}
