//! `countersign key revoke ID`

use crate::{context::Context, failure::Failure, operations, table::printable};
use countersign_server::admin::RevokeApiKey;

/// Revoke an API key at once. Revoking it twice changes nothing
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The key's id from `countersign key list`. Not its secret.
    id: String,

    /// The project. May be omitted if there is only one.
    #[arg(long, value_name = "ID")]
    project: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let request = RevokeApiKey { project: arguments.project.clone(), id: arguments.id.clone() };
    let key = operations::ask(context, request)?;
    let since = key.revoked_at.map_or_else(String::new, |at| at.to_rfc3339());
    context.say(&format!("key {} of {} is revoked since {since}\n", key.id, printable(&key.principal)))
}
