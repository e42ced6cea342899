//! `countersign token add`

use crate::{cli::Reading, context::Context, failure::Failure, operations, password};
use anstyle::AnsiColor;
use countersign_server::admin::{AddSubscriberToken, AdminRefusal, ListPeople, NewSubscriberToken};
use serde_json::json;

/// Create a token for a person's subscriber. Its secret is shown once
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
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

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let password = if arguments.approves_high_risk { Some(current_password(arguments, context)?) } else { None };
    let request = AddSubscriberToken {
        project: arguments.project.clone(),
        person: arguments.person.clone(),
        password,
        new: NewSubscriberToken {
            name: arguments.name.clone(),
            may_answer: !arguments.reads_only,
            legacy: arguments.legacy,
            approves_high_risk: arguments.approves_high_risk,
            lifetime_s: arguments.days.map(|days| days.saturating_mul(86_400)),
        },
    };
    let added = operations::ask(context, request)?;
    let (id, secret, ends) = (&added.token.id, &added.secret, added.token.expires_at.to_rfc3339());
    if arguments.reading.json {
        let told = json!({ "id": id, "secret": secret, "person": arguments.person, "expires_at": ends });
        return context.say_json(&told);
    }
    context.say(&format!("token: {id}\nsecret: {secret}\nends: {ends}\n"))?;
    let once = "keep the secret now: only its hash is stored, so it cannot be shown again";
    context.terminal.note("note", AnsiColor::Yellow, once);
    Ok(())
}

/// Checks the account first, before a password is typed in vain.
fn current_password(arguments: &Arguments, context: &Context) -> Result<String, Failure> {
    let person = &arguments.person;
    if !operations::ask(context, ListPeople {})?.iter().any(|known| known.name == *person) {
        return Err(AdminRefusal::NoAccount.into());
    }
    password::read_current(&arguments.password, person, context)
}
