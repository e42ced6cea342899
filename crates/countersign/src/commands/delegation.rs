//! `countersign delegation …`: people's delegations to agents, and suspensions lifted after a restore.

use crate::{cli::Reading, context::Context, failure::Failure, operations, table::Listing};
use clap::Subcommand;
use countersign_server::admin::{Delegation, DelegationState, LiftDelegations, ListDelegations};
use serde_json::json;

/// List the delegations of a project, and lift those that a restore suspended
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the delegations of a project, including ended ones
    List {
        /// The project. May be omitted if there is only one.
        #[arg(long, value_name = "ID")]
        project: Option<String>,

        #[command(flatten)]
        reading: Reading,
    },
    /// Reactivate delegations that a restore suspended. Make sure first that they were not revoked since the backup
    Lift(Lifted),
}

/// The suspensions to lift; shared with `countersign key lift`.
#[derive(Debug, clap::Args)]
pub(crate) struct Lifted {
    /// Its id, as the `list` beside this command names it.
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    pub(super) id: Option<String>,

    /// All that are suspended in the project.
    #[arg(long)]
    all: bool,

    /// The project. May be left out where there is only one.
    #[arg(long, value_name = "ID")]
    pub(super) project: Option<String>,
}

pub(crate) fn run(command: Command, context: &Context) -> Result<(), Failure> {
    match command {
        Command::List { project, reading } => {
            let found = operations::ask(context, ListDelegations { project })?;
            context.list_items(&found, reading.json, &DELEGATIONS)
        }
        Command::Lift(Lifted { id, project, .. }) => {
            let lifted = operations::ask(context, LiftDelegations { project, id })?;
            let line = |found: &Delegation| {
                let Delegation { id, subject, operator, state, .. } = found;
                format!("delegation {id} of {subject} to {operator} is {}\n", state_name(state))
            };
            print_lifted(context, &lifted, line, "no delegation is suspended\n")
        }
    }
}

/// Prints a line for each lifted suspension, or `none`.
pub(super) fn print_lifted<T>(
    context: &Context,
    lifted: &[T],
    line: impl Fn(&T) -> String,
    none: &str,
) -> Result<(), Failure> {
    if lifted.is_empty() {
        return context.say(none);
    }
    context.say(&lifted.iter().map(line).collect::<String>())
}

const DELEGATIONS: Listing<Delegation, 5> = Listing {
    head: ["delegation", "person", "operator", "until", "state"],
    row: |found| {
        let (until, state) = (found.policy_expires_at.to_rfc3339(), state_name(&found.state).into());
        [found.id.clone(), found.subject.clone(), found.operator.to_string(), until, state]
    },
    json: |found| {
        json!({
            "id": found.id,
            "person": found.subject,
            "operator": found.operator.as_str(),
            "granted_at": found.granted_at.to_rfc3339(),
            "until": found.policy_expires_at.to_rfc3339(),
            "state": state_name(&found.state),
        })
    },
    none: "there is no delegation yet: people give them when an agent asks to be connected",
};

pub(super) fn state_name(state: &DelegationState) -> &'static str {
    match state {
        DelegationState::Active => "active",
        DelegationState::Suspended { .. } => "suspended",
        DelegationState::Revoked { .. } => "revoked",
        DelegationState::AutoRevoked { .. } => "ended",
    }
}
