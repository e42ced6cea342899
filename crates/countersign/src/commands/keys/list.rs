//! `countersign keys list`

use crate::{cli::Reading, context::Context, failure::Failure, operations, table::Table};
use countersign_server::admin::{KeyInUse, ListSigningKeys};
use serde_json::{Value, json};

/// List the published keys of this service; the newest signs
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    reading: Reading,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let keys = operations::ask(context, ListSigningKeys {})?;
    if arguments.reading.json {
        return context.say_json(&keys.iter().map(json).collect::<Value>());
    }
    context.list(&Table { head: ["kid", "made", "state"], rows: keys.iter().map(row).collect(), none: "none" })
}

fn row(key: &KeyInUse) -> [String; 3] {
    let state = key.retires_at.map_or_else(|| "signs".into(), |at| format!("published until {}", at.to_rfc3339()));
    [key.kid.clone(), key.created_at.to_rfc3339(), state]
}

fn json(key: &KeyInUse) -> Value {
    json!({
        "kid": key.kid,
        "created_at": key.created_at.to_rfc3339(),
        "signs": key.retires_at.is_none(),
        "published_until": key.retires_at.map(|at| at.to_rfc3339()),
    })
}
