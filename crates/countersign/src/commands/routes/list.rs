//! `countersign routes list`

use super::RouteSource;
use crate::{cli::Reading, context::Context, failure::Failure, table::Table};
use countersign_protocol::project::{ProjectDocument, Route};
use countersign_server::admin::held::must_be_confirmed;
use serde_json::{Value, json};

/// List the routes: method, path and action
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    source: RouteSource,

    #[command(flatten)]
    reading: Reading,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let document = arguments.source.document(context)?;
    if arguments.reading.json {
        return context.say_json(&document.routes.iter().map(|route| json(route, &document)).collect::<Value>());
    }
    context.list(&Table {
        head: ["method", "path", "action", "kind", "route"],
        rows: document.routes.iter().map(|route| row(route, &document)).collect(),
        none: "the project has no routes, so every request is refused",
    })
}

fn row(route: &Route, document: &ProjectDocument) -> [String; 5] {
    let kind = match (must_be_confirmed(document, route), route.writes()) {
        (true, _) => "needs approval",
        (false, true) => "writes",
        (false, false) => "reads",
    };
    [route.method.clone(), route.path.clone(), route.action.clone(), kind.to_owned(), route.id.clone()]
}

fn json(route: &Route, document: &ProjectDocument) -> Value {
    json!({
        "id": route.id,
        "method": route.method,
        "path": route.path,
        "action": route.action,
        "writes": route.writes(),
        "held": must_be_confirmed(document, route),
    })
}
