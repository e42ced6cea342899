//! AAEP: sessions that agents speak in, subscriptions that listen, and the tokens that people give to subscribers.

use countersign_protocol::{aaep::envelope::Producer, domain::Domain, hash::Digest, ids::RowKey, time::UnixMillis};
use serde::{Deserialize, Serialize};

/// One user request, from `session.started` to exactly one terminal event. Holds what the next event must fit to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AaepSession {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    /// `sess_` and 32 hex digits.
    pub id: String,
    /// As in [`super::Raiser`]: only this principal may speak in it.
    pub principal: String,
    pub person: RowKey,
    pub operator: Option<Domain>,
    pub delegation: Option<RowKey>,
    #[serde(default)]
    pub api_key: Option<RowKey>,
    /// The AAP session of the agent.
    pub session: Option<RowKey>,
    /// Stamped on every event.
    pub producer: Producer,
    pub language: String,
    /// Opened by a question and closed with it, for agents that speak no AAEP themselves.
    pub implicit: bool,
    pub opened_at: UnixMillis,
    /// How many events were said; the next one's sequence number.
    pub said: i64,
    /// No later event is stamped earlier.
    pub last_at: UnixMillis,
    pub state: AaepSessionState,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum AaepSessionState {
    Open {
        /// The last `to_state`; `idle` before the first.
        at: String,
        /// The questions that wait for a person.
        waiting: Vec<RowKey>,
        /// What was invoked and is not completed.
        tools: Vec<OpenTool>,
        outputs: Vec<OpenOutput>,
    },
    Over {
        at: UnixMillis,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenTool {
    pub tool: String,
    pub call_id: Option<String>,
    /// Announced by us for a claim: its outcome is reported there, not said.
    #[serde(default)]
    pub claimed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenOutput {
    pub id: Option<String>,
    /// Where the next chunk begins, in code points (C28).
    pub next: i64,
    pub complete: bool,
}

/// One subscriber and what was agreed with it. Only its owner may use its id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Subscription {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    /// `sub_` and 32 hex digits.
    pub id: String,
    pub person: RowKey,
    /// What the subscriber identified itself with.
    pub owner: SubscriptionOwner,
    /// A token of role *reads only* never answers.
    pub may_answer: bool,
    pub subscriber_id: String,
    /// What was asked for, as a capabilities document; the terms follow from it.
    pub capabilities: serde_json::Value,
    pub opened_at: UnixMillis,
    pub closed_at: Option<UnixMillis>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum SubscriptionOwner {
    Token { key: RowKey },
    WebSession { key: RowKey },
}

/// A credential that a person makes for a subscriber of theirs, and takes back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubscriberToken {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    pub id: String,
    pub hash: Digest,
    pub person: RowKey,
    /// What the person calls it: "kitchen speaker".
    pub name: String,
    pub may_answer: bool,
    /// Whether it opens the legacy pair of paths, where it stands in the address.
    pub legacy: bool,
    pub created_at: UnixMillis,
    pub expires_at: Option<UnixMillis>,
    pub revoked_at: Option<UnixMillis>,
}
