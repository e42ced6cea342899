//! `countersign person …`: what is kept about a person, and its erasure.

use crate::{cli::Reading, context::Context, failure::Failure, operations, table::Listing};
use clap::Subcommand;
use countersign_server::admin::{ErasePerson, Erasure, ErasureState, HoldPerson, ListErasures};
use serde_json::{Value, json};

/// Erase what is kept about a person, or keep it by a legal hold
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Erase(EraseArguments),
    /// Keep everything about a person until `person release`
    Hold {
        /// The person.
        name: String,

        /// What the hold is for. It is recorded.
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
    /// Lift the legal hold on a person's records
    Release {
        /// The person.
        name: String,
    },
    /// List scheduled and finished erasures, and legal holds
    Erasures {
        #[command(flatten)]
        reading: Reading,
    },
}

/// Erase a person: every record and every opening of the evidence that names them
///
/// Offboards the person at once. The erasure itself waits until retention.audit_days after the end of their last delegation
/// (90 days by default); the node then carries it out. All proofs stay valid, and the evidence says that an erasure happened.
#[derive(Debug, clap::Args)]
pub(crate) struct EraseArguments {
    /// The person.
    name: String,

    /// Do not wait for the end of that time.
    #[arg(long, requires = "reason")]
    now: bool,

    /// Why it does not wait. It is recorded.
    #[arg(long, value_name = "TEXT", requires = "now")]
    reason: Option<String>,
}

pub(crate) fn run(command: Command, context: &Context) -> Result<(), Failure> {
    match command {
        Command::Erase(EraseArguments { name, reason, .. }) => {
            let erasure = operations::ask(context, ErasePerson { name: name.clone(), early: reason })?;
            context.say(&told(&name, &erasure))
        }
        Command::Hold { name, reason } => {
            operations::ask(context, HoldPerson { name: name.clone(), reason: Some(reason) })?;
            context.say(&format!("nothing about {name} is erased until `countersign person release {name}`\n"))
        }
        Command::Release { name } => {
            let erasure = operations::ask(context, HoldPerson { name: name.clone(), reason: None })?;
            context.say(&format!("the hold is lifted\n{}", told(&name, &erasure)))
        }
        Command::Erasures { reading } => {
            context.list_items(&operations::ask(context, ListErasures {})?, reading.json, &ERASURES)
        }
    }
}

fn told(name: &str, erasure: &Erasure) -> String {
    match &erasure.state {
        ErasureState::NotRequested => format!("no erasure of {name} is scheduled\n"),
        ErasureState::Scheduled { due, .. } => format!(
            "{name} cannot sign in any more; everything about them is erased at {}, when it need not be kept any longer\n",
            due.to_rfc3339()
        ),
        ErasureState::Done { openings, .. } => {
            format!("{name} is erased: {openings} openings of the evidence and every record with the name\n")
        }
    }
}

const ERASURES: Listing<Erasure, 5> = Listing {
    head: ["erasure", "person", "state", "at", "legal hold"],
    row: as_row,
    json: as_json,
    none: "no erasure was requested, and there is no legal hold",
};

/// The state, its time, and the number of openings.
fn state(erasure: &Erasure) -> (&'static str, Option<String>, Option<u64>) {
    match &erasure.state {
        ErasureState::NotRequested => ("not requested", None, None),
        ErasureState::Scheduled { due, .. } => ("scheduled", Some(due.to_rfc3339()), None),
        ErasureState::Done { at, openings } => ("done", Some(at.to_rfc3339()), Some(*openings)),
    }
}

fn as_row(erasure: &Erasure) -> [String; 5] {
    let (word, at, _) = state(erasure);
    let hold = erasure.hold.as_ref().map(|hold| format!("since {}: {}", hold.since.to_rfc3339(), hold.reason));
    [erasure.id.clone(), erasure.name.clone(), word.into(), at.unwrap_or_default(), hold.unwrap_or_default()]
}

fn as_json(erasure: &Erasure) -> Value {
    let (word, at, openings) = state(erasure);
    let hold = erasure.hold.as_ref().map(|hold| json!({ "since": hold.since.to_rfc3339(), "reason": hold.reason }));
    json!({ "id": erasure.id, "person": erasure.name, "state": word, "at": at, "openings": openings, "legal_hold": hold })
}
