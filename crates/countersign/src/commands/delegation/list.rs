//! `countersign delegation list`

use super::word;
use crate::{cli::Reading, context::Context, failure::Failure, operations, table::Table};
use countersign_server::admin::{Delegation, ListDelegations};
use serde_json::{Value, json};

/// List the delegations of a project, including ended ones
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The project. May be omitted if there is only one.
    #[arg(long, value_name = "ID")]
    project: Option<String>,

    #[command(flatten)]
    reading: Reading,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let found = operations::ask(context, ListDelegations { project: arguments.project.clone() })?;
    if arguments.reading.json {
        return context.say_json(&found.iter().map(json).collect::<Value>());
    }
    context.list(&Table {
        head: ["delegation", "person", "operator", "until", "state"],
        rows: found.iter().map(row).collect(),
        none: "there is no delegation yet: people give them when an agent asks to be connected",
    })
}

fn row(found: &Delegation) -> [String; 5] {
    let until = found.policy_expires_at.to_rfc3339();
    [found.id.clone(), found.subject.clone(), found.operator.to_string(), until, word(&found.state).into()]
}

fn json(found: &Delegation) -> Value {
    json!({
        "id": found.id,
        "person": found.subject,
        "operator": found.operator.as_str(),
        "granted_at": found.granted_at.to_rfc3339(),
        "until": found.policy_expires_at.to_rfc3339(),
        "state": word(&found.state),
    })
}
