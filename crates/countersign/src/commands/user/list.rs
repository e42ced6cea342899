//! `countersign user list`

use super::{word, words};
use crate::{cli::Reading, context::Context, engine, failure::Failure, table::Table};
use countersign_server::admin::{Engine, Membership, Person, Project, Role};
use serde_json::{Map, Value, json};

/// List the people and their roles
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    reading: Reading,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let people = engine::run(context, async |engine| listed(engine).await)?;
    if arguments.reading.json {
        return context.say_json(&people.iter().map(json).collect::<Value>());
    }
    context.list(&Table {
        head: ["name", "called", "roles", "may sign in"],
        rows: people.iter().map(row).collect(),
        none: "there is nobody yet: `countersign user add NAME` adds a person",
    })
}

/// A person, with the roles in each project by its id.
struct Listed {
    person: Person,
    places: Vec<(String, Vec<Role>)>,
}

async fn listed(engine: &Engine) -> Result<Vec<Listed>, Failure> {
    let projects = engine.projects().await.map_err(engine::store)?;
    let people = engine.people().await?.into_iter();
    Ok(people.map(|(person, places)| Listed { person, places: named(places, &projects) }).collect())
}

fn named(places: Vec<Membership>, projects: &[Project]) -> Vec<(String, Vec<Role>)> {
    let held = places.into_iter().filter(|place| !place.roles.is_empty());
    let named = held.filter_map(|place| {
        let project = projects.iter().find(|project| project.key == place.project)?;
        Some((project.id.to_string(), place.roles))
    });
    named.collect()
}

fn row(listed: &Listed) -> [String; 4] {
    let person = &listed.person;
    let everywhere = person.platform_admin.then(|| "admin everywhere".to_owned());
    let places = listed.places.iter().map(|(project, roles)| format!("{} in {project}", words(roles)));
    let roles: Vec<String> = everywhere.into_iter().chain(places).collect();
    let may = if person.disabled { "no, disabled" } else { "yes" };
    [person.subject.clone(), person.display_name.clone(), roles.join("; "), may.to_owned()]
}

fn json(listed: &Listed) -> Value {
    let person = &listed.person;
    let roles = listed.places.iter().map(|(project, roles)| {
        let roles: Vec<&str> = roles.iter().map(word).collect();
        (project.clone(), json!(roles))
    });
    json!({
        "name": person.subject,
        "issuer": person.issuer,
        "display_name": person.display_name,
        "platform_admin": person.platform_admin,
        "disabled": person.disabled,
        "created_at": person.created_at.to_rfc3339(),
        "roles": roles.collect::<Map<_, _>>(),
    })
}
