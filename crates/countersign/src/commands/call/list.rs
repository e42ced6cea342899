//! `countersign call list`

use crate::{cli::Reading, context::Context, failure::Failure, operations, table::Table};
use countersign_server::admin::{ListUnsettledCalls, UnsettledWrite, WriteState};
use serde_json::{Value, json};

/// List the writes with an unknown outcome; their repeats are refused until they are settled, for a day at most
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The project. May be left out where there is only one.
    #[arg(long, value_name = "ID")]
    project: Option<String>,

    #[command(flatten)]
    reading: Reading,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let found = operations::ask(context, ListUnsettledCalls { project: arguments.project.clone() })?;
    if arguments.reading.json {
        return context.say_json(&found.iter().map(json).collect::<Value>());
    }
    context.list(&Table {
        head: ["call", "started", "operator", "request", "state"],
        rows: found.iter().map(row).collect(),
        none: "the outcome of every call is known",
    })
}

fn row(found: &UnsettledWrite) -> [String; 5] {
    let request = format!("{} {}", found.method, found.target);
    [found.call_id.clone(), found.started_at.to_rfc3339(), found.operator.clone(), request, word(&found.state).into()]
}

fn json(found: &UnsettledWrite) -> Value {
    json!({
        "call_id": found.call_id,
        "started_at": found.started_at.to_rfc3339(),
        "until": found.until.to_rfc3339(),
        "operator": found.operator,
        "delegation_id": found.delegation_id,
        "route": found.route,
        "action": found.action,
        "method": found.method,
        "target": found.target,
        "state": word(&found.state),
    })
}

/// The display name of a state.
fn word(state: &WriteState) -> &'static str {
    match state {
        WriteState::InFlight => "in flight",
        WriteState::Unknown { .. } => "unknown",
        WriteState::Settled { ran: true, .. } => "ran",
        WriteState::Settled { ran: false, .. } => "did not run",
    }
}
