//! `countersign service-account show ID`

use super::{json, state_name};
use crate::{cli::Reading, context::Context, failure::Failure, operations};
use countersign_server::admin::{Delegation, ListServiceAccounts};
use std::fmt::Write as _;

/// Show what was granted to a service account, with every scope and resource
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The id of the grant, or of the account.
    id: String,

    /// The project. May be omitted if there is only one.
    #[arg(long, value_name = "ID")]
    project: Option<String>,

    #[command(flatten)]
    reading: Reading,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let request = ListServiceAccounts { project: arguments.project.clone(), id: Some(arguments.id.clone()) };
    let found = operations::ask(context, request)?;
    if arguments.reading.json {
        return context.say_json(&found.iter().map(json).collect());
    }
    context.say(&found.iter().map(words).collect::<Vec<_>>().join("\n"))
}

fn words(grant: &Delegation) -> String {
    let (until, state) = (grant.policy_expires_at.to_rfc3339(), state_name(&grant.state));
    let mut text = format!("grant: {}\naccount: {}\noperator: {}\n", grant.id, grant.subject, grant.operator);
    if let Some(account) = &grant.service_account {
        let granted = &account.granted_scope;
        let _ = writeln!(text, "organisation: {}\nauthorised by: {}", account.org_id, account.authorized_by);
        let _ = writeln!(text, "description: {}\nscopes: {}", granted.description, granted.scopes.join(", "));
        let resources = if granted.resources.is_empty() { "none".into() } else { granted.resources.join(", ") };
        let _ = writeln!(text, "resources: {resources}");
        let _ = writeln!(text, "crosses users: {}", if granted.crosses_users { "yes" } else { "no" });
    }
    text + &format!("until: {until}\nstate: {state}\n")
}
