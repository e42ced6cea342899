//! `countersign service-account …`: fixed access of an operator's agents, granted by an admin.

mod create;
mod list;
mod revoke;
mod show;

use super::delegation::state_name;
use crate::{context::Context, failure::Failure};
use clap::Subcommand;
use countersign_server::admin::Delegation;
use serde_json::{Value, json};

/// Grant fixed access to an operator's agents, list it, and revoke it
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Create(Box<create::Arguments>),
    List(list::Arguments),
    Show(show::Arguments),
    Revoke(revoke::Arguments),
}

pub(crate) fn run(command: Command, context: &Context) -> Result<(), Failure> {
    match command {
        Command::Create(arguments) => create::run(&arguments, context),
        Command::List(arguments) => list::run(&arguments, context),
        Command::Show(arguments) => show::run(&arguments, context),
        Command::Revoke(arguments) => revoke::run(&arguments, context),
    }
}

fn json(grant: &Delegation) -> Value {
    let account = grant.service_account.as_deref();
    json!({
        "delegation_id": grant.id,
        "account_id": grant.subject,
        "operator": grant.operator.as_str(),
        "org_id": account.map(|account| &account.org_id),
        "authorized_by": account.map(|account| &account.authorized_by),
        "granted_scope": account.map(|account| &account.granted_scope),
        "usage_limits": account.map(|account| &account.usage_limits),
        "granted_at": grant.granted_at.to_rfc3339(),
        "until": grant.policy_expires_at.to_rfc3339(),
        "state": state_name(&grant.state),
    })
}
