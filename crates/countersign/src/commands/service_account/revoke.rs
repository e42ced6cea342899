//! `countersign service-account revoke ID`

use super::{json, state_name};
use crate::{cli::Reading, context::Context, failure::Failure, operations};
use countersign_server::admin::{Delegation, RevokeServiceAccount};

/// Revoke a grant, or all grants of a service account. Its calls are refused at once, on every node
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
    let request = RevokeServiceAccount { project: arguments.project.clone(), id: arguments.id.clone() };
    let ended = operations::ask(context, request)?;
    if arguments.reading.json {
        return context.say_json(&ended.iter().map(json).collect());
    }
    let line =
        |grant: &Delegation| format!("grant {} of {} is {}\n", grant.id, grant.subject, state_name(&grant.state));
    context.say(&ended.iter().map(line).collect::<String>())
}
