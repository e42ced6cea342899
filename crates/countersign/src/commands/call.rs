//! `countersign call …`: writes without approval that have an unknown outcome.

use crate::{cli::Reading, context::Context, failure::Failure, operations, table::Listing};
use clap::Subcommand;
use countersign_server::admin::{ListUnsettledCalls, SettleCall, UnsettledWrite, WriteState};
use serde_json::{Value, json};

/// List calls with an unknown outcome, and settle them
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the writes with an unknown outcome; their repeats are refused until they are settled, for a day at most
    List {
        /// The project. May be left out where there is only one.
        #[arg(long, value_name = "ID")]
        project: Option<String>,

        #[command(flatten)]
        reading: Reading,
    },
    /// Record whether a call with an unknown outcome ran. Check the upstream first: repeats are forwarded from then on
    Settle {
        /// The call, as `countersign call list` and refusals of its repeats name it.
        call_id: String,

        /// It was carried out.
        #[arg(long, required_unless_present = "did_not_run", conflicts_with = "did_not_run")]
        ran: bool,

        /// It was not carried out, and will not be.
        #[arg(long)]
        did_not_run: bool,

        /// How you found out, for the evidence.
        #[arg(long)]
        reason: String,

        /// The project. May be left out where there is only one.
        #[arg(long, value_name = "ID")]
        project: Option<String>,
    },
}

pub(crate) fn run(command: Command, context: &Context) -> Result<(), Failure> {
    match command {
        Command::List { project, reading } => {
            let found = operations::ask(context, ListUnsettledCalls { project })?;
            context.list_items(&found, reading.json, &UNSETTLED)
        }
        Command::Settle { call_id, ran, reason, project, .. } => {
            let settled = operations::ask(context, SettleCall { project, call_id, ran, reason })?;
            let outcome = if ran { "ran" } else { "did not run" };
            let UnsettledWrite { call_id, method, target, .. } = settled;
            context.say(&format!("call {call_id} is settled: {method} {target} {outcome}\n"))
        }
    }
}

const UNSETTLED: Listing<UnsettledWrite, 5> = Listing {
    head: ["call", "started", "operator", "request", "state"],
    row: |found| {
        let request = format!("{} {}", found.method, found.target);
        let state = state_name(&found.state).into();
        [found.call_id.clone(), found.started_at.to_rfc3339(), found.operator.clone(), request, state]
    },
    json: as_json,
    none: "the outcome of every call is known",
};

fn as_json(found: &UnsettledWrite) -> Value {
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
        "state": state_name(&found.state),
    })
}

fn state_name(state: &WriteState) -> &'static str {
    match state {
        WriteState::InFlight => "in flight",
        WriteState::Unknown { .. } => "unknown",
        WriteState::Settled { ran: true, .. } => "ran",
        WriteState::Settled { ran: false, .. } => "did not run",
    }
}
