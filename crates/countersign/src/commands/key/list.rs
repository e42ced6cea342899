//! `countersign key list`

use super::word;
use crate::{cli::Reading, context::Context, engine, failure::Failure, table::Table};
use countersign_server::admin::{ApiKey, Engine};
use serde_json::{Value, json};

/// List the API keys of a project, revoked ones included
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The project. May be left out where there is only one.
    #[arg(long, value_name = "ID")]
    project: Option<String>,

    #[command(flatten)]
    reading: Reading,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let keys = engine::run(context, async |engine| listed(engine, arguments.project.as_deref()).await)?;
    if arguments.reading.json {
        return context.say_json(&keys.iter().map(json).collect::<Value>());
    }
    context.list(&Table {
        head: ["key", "kind", "principal", "responsible", "actions", "state"],
        rows: keys.iter().map(row).collect(),
        none: "there is no key yet: `countersign key add` makes one",
    })
}

/// A key, and the name of who answers for it.
struct Listed {
    key: ApiKey,
    responsible: String,
}

async fn listed(engine: &Engine, project: Option<&str>) -> Result<Vec<Listed>, Failure> {
    let project = engine::project(engine, project).await?;
    let people = engine.people().await?;
    let name = |key: i64| people.iter().find(|(person, _)| person.key == key).map(|(person, _)| person.subject.clone());
    let keys = engine.api_keys(project.key).await?.into_iter();
    Ok(keys.map(|key| Listed { responsible: name(key.responsible).unwrap_or_default(), key }).collect())
}

fn row(listed: &Listed) -> [String; 6] {
    let Listed { key, responsible } = listed;
    let state = key.revoked_at.map_or_else(|| "in use".into(), |at| format!("revoked {}", at.to_rfc3339()));
    let kind = word(key.kind).to_owned();
    [key.id.clone(), kind, key.principal.clone(), responsible.clone(), key.actions.join(", "), state]
}

fn json(listed: &Listed) -> Value {
    let Listed { key, responsible } = listed;
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
    })
}
