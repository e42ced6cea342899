//! `countersign project show [ID]`: the document in force, or an earlier version.

use super::as_toml;
use crate::{cli::Reading, context::Context, failure::Failure, operations};
use countersign_server::admin::ShowProject;
use serde_json::json;

/// Print a project's document, as a file that can be edited and applied again
#[derive(Debug, clap::Args)]
#[command(disable_version_flag = true)]
pub(crate) struct Arguments {
    /// The project. May be omitted if there is only one.
    id: Option<String>,

    /// Print this version instead of the one in force.
    #[arg(long, value_name = "N")]
    version: Option<i64>,

    #[command(flatten)]
    reading: Reading,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let request = ShowProject { id: arguments.id.clone(), version: arguments.version };
    let project = operations::ask(context, request)?;
    if arguments.reading.json {
        return context.say_json(&json!({
            "id": project.id,
            "version": project.version,
            "changed_at": project.changed_at.to_rfc3339(),
            "document": project.document,
        }));
    }
    let (id, version, since) = (&project.id, project.version, project.changed_at.to_rfc3339());
    context.say(&format!("# project {id}, version {version}, applied {since}\n{}", as_toml(&project.document)?))
}
