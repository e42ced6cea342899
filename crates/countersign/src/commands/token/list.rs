//! `countersign token list`

use super::{members, project};
use crate::{cli::Reading, context::Context, engine, failure::Failure, table::Table};
use countersign_server::admin::{Engine, SubscriberToken};
use serde_json::{Value, json};

/// List the tokens of people's subscribers, those taken back included
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Only this person's.
    #[arg(long, value_name = "USER")]
    person: Option<String>,

    /// The project. May be left out where there is only one.
    #[arg(long, value_name = "ID")]
    project: Option<String>,

    #[command(flatten)]
    reading: Reading,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let listed = engine::run(context, async |engine| listed(engine, arguments).await)?;
    if arguments.reading.json {
        return context.say_json(&listed.iter().map(json).collect::<Value>());
    }
    context.list(&Table {
        head: ["token", "name", "person", "may", "state"],
        rows: listed.iter().map(row).collect(),
        none: "there is no token yet: `countersign token add` makes one",
    })
}

/// A token, and the name of whose it is.
struct Listed {
    token: SubscriberToken,
    person: String,
}

async fn listed(engine: &Engine, arguments: &Arguments) -> Result<Vec<Listed>, Failure> {
    let at = project(engine, arguments.project.as_deref()).await?;
    let mut found = Vec::new();
    for member in members(engine, &at).await? {
        let person = member.person.subject;
        if arguments.person.as_ref().is_some_and(|only| *only != person) {
            continue;
        }
        let tokens = engine.subscriber_tokens(&at, member.person.key).await?.into_iter();
        found.extend(tokens.map(|token| Listed { token, person: person.clone() }));
    }
    Ok(found)
}

fn row(listed: &Listed) -> [String; 5] {
    let Listed { token, person } = listed;
    let may = if token.may_answer { "answer" } else { "only listen" };
    let ends = token.expires_at.map_or_else(|| "in use".into(), |at| format!("ends {}", at.to_rfc3339()));
    let state = token.revoked_at.map_or(ends, |at| format!("revoked {}", at.to_rfc3339()));
    [token.id.clone(), token.name.clone(), person.clone(), may.to_owned(), state]
}

fn json(listed: &Listed) -> Value {
    let Listed { token, person } = listed;
    json!({
        "id": token.id,
        "name": token.name,
        "person": person,
        "may_answer": token.may_answer,
        "legacy": token.legacy,
        "created_at": token.created_at.to_rfc3339(),
        "expires_at": token.expires_at.map(|at| at.to_rfc3339()),
        "revoked_at": token.revoked_at.map(|at| at.to_rfc3339()),
    })
}
