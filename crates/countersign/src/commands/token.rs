//! `countersign token …`: issues and revokes a person's subscriber tokens.

use crate::{
    cli::Reading,
    context::Context,
    failure::Failure,
    operations, password,
    table::{Listing, quoted},
};
use clap::Subcommand;
use countersign_server::admin::{
    AddSubscriberToken, AdminRefusal, ListPeople, ListSubscriberTokens, ListedSubscriberToken, NewSubscriberToken,
    RevokeSubscriberToken, TokenState,
};
use serde_json::{Value, json};

/// Create, list and revoke the tokens of subscribers
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Add(AddArguments),
    /// List the tokens of people's subscribers, including revoked ones
    List {
        /// Only tokens of this person.
        #[arg(long, value_name = "USER")]
        person: Option<String>,

        /// The project. May be omitted if there is only one.
        #[arg(long, value_name = "ID")]
        project: Option<String>,

        #[command(flatten)]
        reading: Reading,
    },
    /// Revoke a subscriber's token and end its streams at once. Revoking it twice changes nothing
    Revoke {
        /// The token's id from `countersign token list`. Not its secret.
        id: String,

        /// The project. May be omitted if there is only one.
        #[arg(long, value_name = "ID")]
        project: Option<String>,
    },
}

/// Create a token for a person's subscriber. Its secret is shown once
#[derive(Debug, clap::Args)]
pub(crate) struct AddArguments {
    /// The owner of the subscriber: it receives and answers the same questions.
    #[arg(long, value_name = "USER")]
    person: String,

    /// The person's name for it, such as "kitchen speaker".
    #[arg(long)]
    name: String,

    /// Read-only: the subscriber never answers.
    #[arg(long)]
    reads_only: bool,

    /// For a client that cannot send credentials: the token is part of the URL.
    #[arg(long)]
    legacy: bool,

    /// It may approve irreversible, high-risk actions. Asks for the person's password.
    #[arg(long, conflicts_with = "reads_only")]
    approves_high_risk: bool,

    #[command(flatten)]
    password: password::PasswordSource,

    /// The lifetime in days. The default and the maximum is the project's limit (90).
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(i64).range(1..=3650))]
    days: Option<i64>,

    /// The project. May be omitted if there is only one.
    #[arg(long, value_name = "ID")]
    project: Option<String>,

    #[command(flatten)]
    reading: Reading,
}

pub(crate) fn run(command: Command, context: &Context) -> Result<(), Failure> {
    match command {
        Command::Add(arguments) => add(arguments, context),
        Command::List { person, project, reading } => {
            let listed = operations::ask(context, ListSubscriberTokens { project, person })?;
            context.list_items(&listed, reading.json, &TOKENS)
        }
        Command::Revoke { id, project } => {
            let token = operations::ask(context, RevokeSubscriberToken { project, id })?;
            let since = token.revoked_at.map_or_else(String::new, |at| at.to_rfc3339());
            context.say(&format!("token {} {} is revoked since {since}\n", token.id, quoted(&token.name)))
        }
    }
}

fn add(arguments: AddArguments, context: &Context) -> Result<(), Failure> {
    let password = arguments.approves_high_risk.then(|| current_password(&arguments, context)).transpose()?;
    let new = NewSubscriberToken {
        name: arguments.name,
        may_answer: !arguments.reads_only,
        legacy: arguments.legacy,
        approves_high_risk: arguments.approves_high_risk,
        lifetime_s: arguments.days.map(|days| days.saturating_mul(86_400)),
    };
    let person = arguments.person;
    let request = AddSubscriberToken { project: arguments.project, person: person.clone(), password, new };
    let added = operations::ask(context, request)?;
    let (id, secret, ends) = (&added.token.id, &added.secret, added.token.expires_at.to_rfc3339());
    if arguments.reading.json {
        return context.say_json(&json!({ "id": id, "secret": secret, "person": person, "expires_at": ends }));
    }
    context.say(&format!("token: {id}\nsecret: {secret}\nends: {ends}\n"))?;
    context.note_secret_shown_once();
    Ok(())
}

/// Checks the account first, before a password is typed in vain.
fn current_password(arguments: &AddArguments, context: &Context) -> Result<String, Failure> {
    let person = &arguments.person;
    if !operations::ask(context, ListPeople {})?.iter().any(|known| known.name == *person) {
        return Err(AdminRefusal::NoAccount.into());
    }
    password::read_current(&arguments.password, person, context)
}

const TOKENS: Listing<ListedSubscriberToken, 5> = Listing {
    head: ["token", "name", "person", "may", "state"],
    row: as_row,
    json: as_json,
    none: "there is no token yet: `countersign token add` makes one",
};

fn as_row(listed: &ListedSubscriberToken) -> [String; 5] {
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

fn as_json(listed: &ListedSubscriberToken) -> Value {
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
