//! `countersign project versions [ID]`

use crate::{cli::Reading, context::Context, engine, failure::Failure, table::Table};
use countersign_server::admin::{Engine, Project, project_at};
use serde_json::{Value, json};

/// List the versions of a project that were ever in force
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The project. May be left out where there is only one.
    id: Option<String>,

    #[command(flatten)]
    reading: Reading,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let versions = engine::run(context, async |engine| versions(engine, arguments.id.as_deref()).await)?;
    if arguments.reading.json {
        return context.say_json(&versions.iter().map(json).collect::<Value>());
    }
    let row = |then: &Project| [then.version.to_string(), then.changed_at.to_rfc3339()];
    context.list(&Table { head: ["version", "applied"], rows: versions.iter().map(row).collect(), none: "none" })
}

/// Oldest first.
async fn versions(engine: &Engine, id: Option<&str>) -> Result<Vec<Project>, Failure> {
    let project = engine::project(engine, id).await?;
    let store = engine.store();
    let mut found = Vec::new();
    for version in store.project_versions(project.key).await.map_err(engine::store)? {
        found.extend(project_at(&**store, project.key, version).await.map_err(engine::store)?);
    }
    Ok(found)
}

fn json(then: &Project) -> Value {
    json!({ "version": then.version, "changed_at": then.changed_at.to_rfc3339() })
}
