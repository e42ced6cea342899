//! `countersign clarify keys`: the public keys for verifiers.

use super::connection::ClarifyClient;
use crate::{context::Context, failure::Failure, table::Table};
use countersign_protocol::clarification::{PublishedKey, PublishedKeys};
use serde_json::to_value;

/// List the keys with which the service asks and signs. Needs no API key
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

pub(super) async fn run(connection: &ClarifyClient, json: bool, context: &Context) -> Result<(), Failure> {
    let keys = connection.published_keys(context).await?;
    say(&keys, json, context)
}

pub(super) fn say(keys: &PublishedKeys, json: bool, context: &Context) -> Result<(), Failure> {
    if json {
        return context.say_json(&to_value(keys).map_err(|why| Failure::new(why.to_string()))?);
    }
    context.list(&Table {
        head: ["agent", "key", "made", "state"],
        rows: keys.keys.iter().map(|key| row(&keys.agent_id, key)).collect(),
        none: "none",
    })
}

fn row(agent_id: &str, key: &PublishedKey) -> [String; 4] {
    let state = key.retired_at.as_ref().map_or_else(|| "signs".into(), |at| format!("replaced {at}"));
    [agent_id.to_owned(), key.public_key.as_str().to_owned(), key.created_at.to_string(), state]
}
