//! `countersign key lift`

use crate::{context::Context, failure::Failure, operations, table::printable};
use countersign_server::admin::{ApiKey, LiftApiKeys};

/// Reactivate API keys that a restore suspended. Make sure first that they were not revoked since the backup
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The key's id from `countersign key list`. Not its secret.
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    id: Option<String>,

    /// All suspended keys of the project.
    #[arg(long)]
    all: bool,

    /// The project. May be omitted if there is only one.
    #[arg(long, value_name = "ID")]
    project: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let request = LiftApiKeys { project: arguments.project.clone(), id: arguments.id.clone() };
    let lifted = operations::ask(context, request)?;
    if lifted.is_empty() {
        return context.say("no key is suspended\n");
    }
    let line = |key: &ApiKey| {
        let state = if key.is_live() { "in use" } else { "revoked" };
        format!("key {} of {} is {state}\n", key.id, printable(&key.principal))
    };
    context.say(&lifted.iter().map(line).collect::<String>())
}
