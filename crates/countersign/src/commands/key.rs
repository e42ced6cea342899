//! `countersign key …`: keys of agents, admins, enforcement points and identity providers.

use super::delegation::{Lifted, print_lifted};
use crate::{
    cli::Reading,
    context::Context,
    failure::Failure,
    operations,
    table::{Listing, printable},
};
use clap::{Subcommand, ValueEnum};
use countersign_server::admin::{
    AddApiKey, ApiKey, ApiKeyKind, LiftApiKeys, ListApiKeys, ListedApiKey, NewKey, RevokeApiKey,
};
use serde_json::{Value, json};

/// Create, list and revoke API keys of a project, and lift those that a restore suspended
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Add(AddArguments),
    /// List the API keys of a project, including revoked ones
    List {
        /// The project. May be omitted if there is only one.
        #[arg(long, value_name = "ID")]
        project: Option<String>,

        #[command(flatten)]
        reading: Reading,
    },
    /// Revoke an API key at once. Revoking it twice changes nothing
    Revoke {
        /// The key's id from `countersign key list`. Not its secret.
        id: String,

        /// The project. May be omitted if there is only one.
        #[arg(long, value_name = "ID")]
        project: Option<String>,
    },
    /// Reactivate API keys that a restore suspended. Make sure first that they were not revoked since the backup
    Lift(Lifted),
}

/// Create an API key. Its secret is shown once
#[derive(Debug, clap::Args)]
pub(crate) struct AddArguments {
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

pub(crate) fn run(command: Command, context: &Context) -> Result<(), Failure> {
    match command {
        Command::Add(arguments) => add(arguments, context),
        Command::List { project, reading } => {
            context.list_items(&operations::ask(context, ListApiKeys { project })?, reading.json, &API_KEYS)
        }
        Command::Revoke { id, project } => {
            let key = operations::ask(context, RevokeApiKey { project, id })?;
            let since = key.revoked_at.map_or_else(String::new, |at| at.to_rfc3339());
            context.say(&format!("key {} of {} is revoked since {since}\n", key.id, printable(&key.principal)))
        }
        Command::Lift(Lifted { id, project, .. }) => {
            let lifted = operations::ask(context, LiftApiKeys { project, id })?;
            let line = |key: &ApiKey| {
                let state = if key.is_live() { "in use" } else { "revoked" };
                format!("key {} of {} is {state}\n", key.id, printable(&key.principal))
            };
            print_lifted(context, &lifted, line, "no key is suspended\n")
        }
    }
}

fn add(arguments: AddArguments, context: &Context) -> Result<(), Failure> {
    let AddArguments { kind, principal, responsible, actions, asks, jkt, project, reading } = arguments;
    let kind = match kind {
        KeyKindArgument::Agent => ApiKeyKind::Agent,
        KeyKindArgument::Admin => ApiKeyKind::Admin,
        KeyKindArgument::EnforcementPoint => ApiKeyKind::EnforcementPoint,
        KeyKindArgument::Scim => ApiKeyKind::Scim,
    };
    let new = NewKey { kind, principal, responsible, actions, asks, jkt };
    let added = operations::ask(context, AddApiKey { project, new })?;
    let (id, secret, kind, project) = (&added.key.id, &added.secret, kind_name(added.key.kind), &added.project);
    if reading.json {
        return context.say_json(&json!({ "id": id, "secret": secret, "kind": kind, "project": project }));
    }
    context.say(&format!("key: {id}\nsecret: {secret}\n"))?;
    context.note_secret_shown_once();
    Ok(())
}

const API_KEYS: Listing<ListedApiKey, 6> = Listing {
    head: ["key", "kind", "principal", "responsible", "actions", "state"],
    row: as_row,
    json: as_json,
    none: "there is no key yet: `countersign key add` makes one",
};

fn as_row(listed: &ListedApiKey) -> [String; 6] {
    let ListedApiKey { key, responsible } = listed;
    let state = match (key.revoked_at, key.suspended_at) {
        (Some(at), _) => format!("revoked {}", at.to_rfc3339()),
        (None, Some(at)) => format!("suspended {}", at.to_rfc3339()),
        (None, None) => "in use".into(),
    };
    let kind = kind_name(key.kind).to_owned();
    [key.id.clone(), kind, key.principal.clone(), responsible.clone(), key.actions.join(", "), state]
}

fn as_json(listed: &ListedApiKey) -> Value {
    let ListedApiKey { key, responsible } = listed;
    json!({
        "id": key.id,
        "kind": kind_name(key.kind),
        "principal": key.principal,
        "responsible": responsible,
        "actions": key.actions,
        "asks": key.asks,
        "jkt": key.jkt,
        "created_at": key.created_at.to_rfc3339(),
        "revoked_at": key.revoked_at.map(|at| at.to_rfc3339()),
        "suspended_at": key.suspended_at.map(|at| at.to_rfc3339()),
    })
}

/// The name of a kind, the same as on the command line.
fn kind_name(kind: ApiKeyKind) -> &'static str {
    match kind {
        ApiKeyKind::Agent => "agent",
        ApiKeyKind::Admin => "admin",
        ApiKeyKind::EnforcementPoint => "enforcement-point",
        ApiKeyKind::Scim => "scim",
    }
}

/// A SHA-256 thumbprint (RFC 7638) in the format of `jkt`.
fn thumbprint(text: &str) -> Result<String, &'static str> {
    let base64url = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    let fits = text.len() == 43 && text.bytes().all(base64url);
    if fits { Ok(text.to_owned()) } else { Err("a thumbprint is 43 characters of base64url") }
}
