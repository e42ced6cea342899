//! `countersign service-account list`

use super::{json, state_name};
use crate::{cli::Reading, context::Context, failure::Failure, operations, table::Listing};
use countersign_server::admin::{Delegation, ListServiceAccounts};

/// List the grants to service accounts, including ended ones
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The project. May be omitted if there is only one.
    #[arg(long, value_name = "ID")]
    project: Option<String>,

    #[command(flatten)]
    reading: Reading,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let found = operations::ask(context, ListServiceAccounts { project: arguments.project.clone(), id: None })?;
    context.list_items(&found, arguments.reading.json, &GRANTS)
}

const GRANTS: Listing<Delegation, 6> = Listing {
    head: ["grant", "account", "operator", "crosses users", "until", "state"],
    row: |found| {
        let crosses = found.service_account.as_ref().is_some_and(|account| account.granted_scope.crosses_users);
        [
            found.id.clone(),
            found.subject.clone(),
            found.operator.to_string(),
            if crosses { "yes" } else { "no" }.into(),
            found.policy_expires_at.to_rfc3339(),
            state_name(&found.state).into(),
        ]
    },
    json,
    none: "there is no service account yet: `countersign service-account create` grants one",
};
