//! `countersign token revoke ID`

use crate::{context::Context, failure::Failure, operations, table::quoted};
use countersign_server::admin::RevokeSubscriberToken;

/// Revoke a subscriber's token and end its streams at once. Revoking it twice changes nothing
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The token's id from `countersign token list`. Not its secret.
    id: String,

    /// The project. May be omitted if there is only one.
    #[arg(long, value_name = "ID")]
    project: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let request = RevokeSubscriberToken { project: arguments.project.clone(), id: arguments.id.clone() };
    let token = operations::ask(context, request)?;
    let since = token.revoked_at.map_or_else(String::new, |at| at.to_rfc3339());
    context.say(&format!("token {} {} is revoked since {since}\n", token.id, quoted(&token.name)))
}
