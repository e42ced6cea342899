//! `countersign key add`

use super::word;
use crate::{cli::Reading, context::Context, failure::Failure, operations};
use anstyle::AnsiColor;
use clap::ValueEnum;
use countersign_server::admin::{AddApiKey, ApiKeyKind, NewKey};
use serde_json::json;

/// Create an API key. Its secret is shown once
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The purpose of the key; a key has exactly one.
    #[arg(long)]
    kind: KeyKindArgument,

    /// The holder of the key, as named in audit entries.
    #[arg(long, value_name = "NAME")]
    principal: String,

    /// The person responsible for the key.
    #[arg(long, value_name = "USER")]
    responsible: String,

    /// An action the key may raise; may be repeated.
    #[arg(long = "action", value_name = "ACTION")]
    actions: Vec<String>,

    /// A person the key may ask; may be repeated. Default: the responsible person.
    #[arg(long = "ask", value_name = "USER")]
    asks: Vec<String>,

    /// The thumbprint of the DPoP key to bind it to.
    #[arg(long, value_parser = thumbprint)]
    jkt: Option<String>,

    /// The project. May be omitted if there is only one.
    #[arg(long, value_name = "ID")]
    project: Option<String>,

    #[command(flatten)]
    reading: Reading,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum KeyKindArgument {
    /// Asks questions and waits for answers.
    Agent,
    /// Administers the project.
    Admin,
    /// Enforces decisions in front of an API.
    EnforcementPoint,
    /// Provisions users from an identity provider (SCIM).
    Scim,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let request = AddApiKey { project: arguments.project.clone(), new: asked(arguments) };
    let added = operations::ask(context, request)?;
    let (id, secret, kind, project) = (&added.key.id, &added.secret, word(added.key.kind), &added.project);
    if arguments.reading.json {
        return context.say_json(&json!({ "id": id, "secret": secret, "kind": kind, "project": project }));
    }
    context.say(&format!("key: {id}\nsecret: {secret}\n"))?;
    let once = "keep the secret now: only its hash is stored, so it cannot be shown again";
    context.terminal.note("note", AnsiColor::Yellow, once);
    Ok(())
}

fn asked(arguments: &Arguments) -> NewKey {
    NewKey {
        kind: match arguments.kind {
            KeyKindArgument::Agent => ApiKeyKind::Agent,
            KeyKindArgument::Admin => ApiKeyKind::Admin,
            KeyKindArgument::EnforcementPoint => ApiKeyKind::EnforcementPoint,
            KeyKindArgument::Scim => ApiKeyKind::Scim,
        },
        principal: arguments.principal.clone(),
        responsible: arguments.responsible.clone(),
        actions: arguments.actions.clone(),
        asks: arguments.asks.clone(),
        jkt: arguments.jkt.clone(),
    }
}

/// A SHA-256 thumbprint (RFC 7638) in the format of `jkt`.
fn thumbprint(text: &str) -> Result<String, &'static str> {
    let base64url = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    let fits = text.len() == 43 && text.bytes().all(base64url);
    if fits { Ok(text.to_owned()) } else { Err("a thumbprint is 43 characters of base64url") }
}
