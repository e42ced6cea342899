//! `countersign webhooks secret create OPERATOR`

use super::{json, operator};
use crate::{cli::Reading, context::Context, failure::Failure, operations};
use anstyle::AnsiColor;
use countersign_protocol::domain::Domain;
use countersign_server::admin::CreateWebhookSecret;

/// Create a webhook secret for an operator. It is shown once. The first one enrols the operator
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The operator's domain, such as agents.example.com.
    #[arg(value_parser = operator)]
    operator: Domain,

    /// The project. May be omitted if there is only one.
    #[arg(long, value_name = "ID")]
    project: Option<String>,

    #[command(flatten)]
    reading: Reading,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let request = CreateWebhookSecret { project: arguments.project.clone(), operator: arguments.operator.clone() };
    let created = operations::ask(context, request)?;
    if arguments.reading.json {
        let mut shown = json(&created.listed);
        if let Some(members) = shown.as_object_mut() {
            members.insert("secret".into(), created.secret.into());
        }
        return context.say_json(&shown);
    }
    context.say(&format!("id: {}\nsecret: {}\n", created.listed.id, created.secret))?;
    let once = "pass the secret to the operator now: it is stored sealed and cannot be shown again";
    context.terminal.note("note", AnsiColor::Yellow, once);
    Ok(())
}
