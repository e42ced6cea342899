//! `countersign project list`

use crate::{cli::Reading, context::Context, failure::Failure, operations, table::Table};
use countersign_server::admin::{ListProjects, Project};
use serde_json::{Value, json};

/// List the projects
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    reading: Reading,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let projects = operations::ask(context, ListProjects {})?;
    if arguments.reading.json {
        return context.say_json(&projects.iter().map(json).collect::<Value>());
    }
    context.list(&Table {
        head: ["project", "version", "applied", "name"],
        rows: projects.iter().map(row).collect(),
        none: "there is no project yet: `countersign project apply FILE` makes one",
    })
}

fn row(project: &Project) -> [String; 4] {
    let applied = project.changed_at.to_rfc3339();
    [project.id.to_string(), project.version.to_string(), applied, project.document.display_name.clone()]
}

fn json(project: &Project) -> Value {
    json!({
        "id": project.id,
        "version": project.version,
        "changed_at": project.changed_at.to_rfc3339(),
        "display_name": project.document.display_name,
    })
}
