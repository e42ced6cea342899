//! `countersign token list`

use crate::{cli::Reading, context::Context, failure::Failure, operations, table::Table};
use countersign_server::admin::{ListSubscriberTokens, ListedSubscriberToken, TokenState};
use serde_json::{Value, json};

/// List the tokens of people's subscribers, including revoked ones
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Only tokens of this person.
    #[arg(long, value_name = "USER")]
    person: Option<String>,

    /// The project. May be omitted if there is only one.
    #[arg(long, value_name = "ID")]
    project: Option<String>,

    #[command(flatten)]
    reading: Reading,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let request = ListSubscriberTokens { project: arguments.project.clone(), person: arguments.person.clone() };
    let listed = operations::ask(context, request)?;
    if arguments.reading.json {
        return context.say_json(&listed.iter().map(json).collect::<Value>());
    }
    context.list(&Table {
        head: ["token", "name", "person", "may", "state"],
        rows: listed.iter().map(row).collect(),
        none: "there is no token yet: `countersign token add` makes one",
    })
}

fn row(listed: &ListedSubscriberToken) -> [String; 5] {
    let ListedSubscriberToken { token, person, state } = listed;
    let may = match (token.may_answer, token.approves_high_risk) {
        (false, _) => "only listen",
        (true, false) => "answer",
        (true, true) => "answer, also high risk",
    };
    let ends = token.expires_at.to_rfc3339();
    let state = match (state, token.revoked_at) {
        (_, Some(at)) => format!("revoked {}", at.to_rfc3339()),
        (TokenState::Active, _) => format!("ends {ends}"),
        (TokenState::Expired, _) => format!("expired {ends}"),
        _ => "ended with its person's sign-ins".to_owned(),
    };
    [token.id.clone(), token.name.clone(), person.clone(), may.to_owned(), state]
}

fn json(listed: &ListedSubscriberToken) -> Value {
    let ListedSubscriberToken { token, person, state } = listed;
    json!({
        "state": state.as_str(),
        "approves_high_risk": token.approves_high_risk,
        "id": token.id,
        "name": token.name,
        "person": person,
        "may_answer": token.may_answer,
        "legacy": token.legacy,
        "created_at": token.created_at.to_rfc3339(),
        "expires_at": token.expires_at.to_rfc3339(),
        "revoked_at": token.revoked_at.map(|at| at.to_rfc3339()),
    })
}
