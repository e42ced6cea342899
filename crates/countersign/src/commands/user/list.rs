//! `countersign user list`

use super::{word, words};
use crate::{cli::Reading, context::Context, failure::Failure, operations, table::Table};
use countersign_server::admin::{ListPeople, ListedPerson};
use serde_json::{Map, Value, json};

/// List the people and their roles
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    reading: Reading,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let people = operations::ask(context, ListPeople {})?;
    if arguments.reading.json {
        return context.say_json(&people.iter().map(json).collect::<Value>());
    }
    context.list(&Table {
        head: ["name", "called", "roles", "may sign in"],
        rows: people.iter().map(row).collect(),
        none: "there are no accounts yet: `countersign user add NAME` adds a person",
    })
}

fn row(person: &ListedPerson) -> [String; 4] {
    let everywhere = person.platform_admin.then(|| "admin everywhere".to_owned());
    let places = person.roles.iter().map(|(project, roles)| format!("{} in {project}", words(roles)));
    let roles: Vec<String> = everywhere.into_iter().chain(places).collect();
    let may = if person.disabled { "no, disabled" } else { "yes" };
    [person.name.clone(), person.display_name.clone(), roles.join("; "), may.to_owned()]
}

fn json(person: &ListedPerson) -> Value {
    let roles = person.roles.iter().map(|(project, roles)| {
        let roles: Vec<&str> = roles.iter().map(word).collect();
        (project.clone(), json!(roles))
    });
    json!({
        "name": person.name,
        "issuer": person.issuer,
        "display_name": person.display_name,
        "platform_admin": person.platform_admin,
        "disabled": person.disabled,
        "created_at": person.created_at.to_rfc3339(),
        "roles": roles.collect::<Map<_, _>>(),
    })
}
