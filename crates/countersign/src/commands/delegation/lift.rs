//! `countersign delegation lift`

use super::word;
use crate::{context::Context, failure::Failure, operations};
use countersign_server::admin::LiftDelegations;

/// Reactivate delegations that a restore suspended. Make sure first that they were not revoked since the backup
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The delegation's id from `countersign delegation list`.
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    id: Option<String>,

    /// All suspended delegations of the project.
    #[arg(long)]
    all: bool,

    /// The project. May be omitted if there is only one.
    #[arg(long, value_name = "ID")]
    project: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let request = LiftDelegations { project: arguments.project.clone(), id: arguments.id.clone() };
    let lifted = operations::ask(context, request)?;
    if lifted.is_empty() {
        return context.say("no delegation is suspended\n");
    }
    let line = |found: &countersign_server::admin::Delegation| {
        format!("delegation {} of {} to {} is {}\n", found.id, found.subject, found.operator, word(&found.state))
    };
    context.say(&lifted.iter().map(line).collect::<String>())
}
