//! `countersign clarify keys` and `rotate-key`: the public keys for verifiers.

use super::connection::{ClarifyClient, failed};
use crate::{context::Context, failure::Failure, table::Table};
use countersign_protocol::clarification::{PublishedKey, PublishedKeys};
use serde_json::to_value;

pub(super) async fn list(connection: &ClarifyClient, json: bool, context: &Context) -> Result<(), Failure> {
    print(&connection.published_keys(context).await?, json, context)
}

/// The old key signs the rotation.
pub(super) async fn rotate(connection: &ClarifyClient, json: bool, context: &Context) -> Result<(), Failure> {
    print(&connection.resolve(context)?.rotate_key().await.map_err(failed)?, json, context)
}

fn print(keys: &PublishedKeys, json: bool, context: &Context) -> Result<(), Failure> {
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
