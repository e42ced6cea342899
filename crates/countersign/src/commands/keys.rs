//! `countersign keys …`: the service's own signing keys.

use crate::{cli::Reading, context::Context, failure::Failure, operations, table::Listing};
use clap::Subcommand;
use countersign_server::admin::{KeyInUse, ListSigningKeys, ReplaceLogKey, RotateSigningKeys};
use serde_json::json;

/// List and rotate the signing keys of this service
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the published keys of this service; the newest signs
    List {
        #[command(flatten)]
        reading: Reading,
    },
    /// Sign with a new key from now on. The old one stays published while anything signed by it is valid
    Rotate,
    /// Sign checkpoints of the evidence with a new key from now on. The old key states its successor, and is deleted
    RotateLog,
}

pub(crate) fn run(command: Command, context: &Context) -> Result<(), Failure> {
    match command {
        Command::List { reading } => {
            context.list_items(&operations::ask(context, ListSigningKeys {})?, reading.json, &SIGNING_KEYS)
        }
        Command::Rotate => rotate(context),
        Command::RotateLog => rotate_log(context),
    }
}

const SIGNING_KEYS: Listing<KeyInUse, 3> = Listing {
    head: ["kid", "made", "state"],
    row: |key| {
        let state = key.retires_at.map_or_else(|| "signs".into(), |at| format!("published until {}", at.to_rfc3339()));
        [key.kid.clone(), key.created_at.to_rfc3339(), state]
    },
    json: |key| {
        json!({
            "kid": key.kid,
            "created_at": key.created_at.to_rfc3339(),
            "signs": key.retires_at.is_none(),
            "published_until": key.retires_at.map(|at| at.to_rfc3339()),
        })
    },
    none: "none",
};

fn rotate(context: &Context) -> Result<(), Failure> {
    let rotated = operations::ask(context, RotateSigningKeys {})?;
    let old =
        |key: &KeyInUse| key.retires_at.map(|at| format!("{} stays published until {}\n", key.kid, at.to_rfc3339()));
    let olds: String = rotated.published.iter().filter_map(old).collect();
    context.say(&format!("{} signs from now on; nodes that run take it up within seconds\n{olds}", rotated.added.kid))
}

fn rotate_log(context: &Context) -> Result<(), Failure> {
    let replaced = operations::ask(context, ReplaceLogKey {})?;
    context.say(&format!(
        "key {} signs checkpoints from the next one on; its verifier key is at /evidence/keys of each project\n{}",
        replaced.generation, replaced.statement
    ))
}
