//! `countersign key list`

use super::word;
use crate::{cli::Reading, context::Context, failure::Failure, operations, table::Table};
use countersign_server::admin::{ListApiKeys, ListedApiKey};
use serde_json::{Value, json};

/// List the API keys of a project, including revoked ones
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The project. May be omitted if there is only one.
    #[arg(long, value_name = "ID")]
    project: Option<String>,

    #[command(flatten)]
    reading: Reading,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let keys = operations::ask(context, ListApiKeys { project: arguments.project.clone() })?;
    if arguments.reading.json {
        return context.say_json(&keys.iter().map(json).collect::<Value>());
    }
    context.list(&Table {
        head: ["key", "kind", "principal", "responsible", "actions", "state"],
        rows: keys.iter().map(row).collect(),
        none: "there is no key yet: `countersign key add` makes one",
    })
}

fn row(listed: &ListedApiKey) -> [String; 6] {
    let ListedApiKey { key, responsible } = listed;
    let state = match (key.revoked_at, key.suspended_at) {
        (Some(at), _) => format!("revoked {}", at.to_rfc3339()),
        (None, Some(at)) => format!("suspended {}", at.to_rfc3339()),
        (None, None) => "in use".into(),
    };
    let kind = word(key.kind).to_owned();
    [key.id.clone(), kind, key.principal.clone(), responsible.clone(), key.actions.join(", "), state]
}

fn json(listed: &ListedApiKey) -> Value {
    let ListedApiKey { key, responsible } = listed;
    json!({
        "id": key.id,
        "kind": word(key.kind),
        "principal": key.principal,
        "responsible": responsible,
        "actions": key.actions,
        "asks": key.asks,
        "jkt": key.jkt,
        "created_at": key.created_at.to_rfc3339(),
        "revoked_at": key.revoked_at.map(|at| at.to_rfc3339()),
        "suspended_at": key.suspended_at.map(|at| at.to_rfc3339()),
    })
}
