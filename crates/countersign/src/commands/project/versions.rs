//! `countersign project versions [ID]`

use crate::{cli::Reading, context::Context, failure::Failure, operations, table::Table};
use countersign_server::admin::{ListProjectVersions, Project};
use serde_json::{Value, json};

/// List all versions of a project that were ever in force
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The project. May be omitted if there is only one.
    id: Option<String>,

    #[command(flatten)]
    reading: Reading,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let versions = operations::ask(context, ListProjectVersions { id: arguments.id.clone() })?;
    if arguments.reading.json {
        return context.say_json(&versions.iter().map(json).collect::<Value>());
    }
    let row = |then: &Project| [then.version.to_string(), then.changed_at.to_rfc3339()];
    context.list(&Table { head: ["version", "applied"], rows: versions.iter().map(row).collect(), none: "none" })
}

fn json(then: &Project) -> Value {
    json!({ "version": then.version, "changed_at": then.changed_at.to_rfc3339() })
}
