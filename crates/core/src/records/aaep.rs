//! AAEP: sessions of agents, subscriptions, and subscriber tokens issued by people.

use super::Person;
use countersign_protocol::{aaep::envelope::Producer, domain::Domain, hash::Digest, ids::RowKey, time::UnixMillis};
use serde::{Deserialize, Serialize};

/// One user request, from `session.started` to exactly one terminal event. Holds the state that the next event must be
/// consistent with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AaepSession {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    /// `sess_` and 32 hex digits.
    pub id: String,
    /// As in [`super::Raiser`]: only this principal may publish in it.
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
    /// Opened and closed with a question, for agents that do not use AAEP themselves.
    pub implicit: bool,
    pub opened_at: UnixMillis,
    /// The number of published events; the next sequence number.
    pub said: i64,
    /// No later event has an earlier timestamp.
    pub last_at: UnixMillis,
    /// How long the session may be idle before it counts as abandoned.
    #[serde(default = "an_hour")]
    pub idle_s: i64,
    /// When the agent's access expires.
    #[serde(default)]
    pub access_until: Option<UnixMillis>,
    pub state: AaepSessionState,
}

fn an_hour() -> i64 {
    3600
}

impl AaepSession {
    /// When the session ends unless its agent publishes something. Never while a question is pending or a claimed call
    /// runs: these have their own deadlines, and their outcome is published in the session.
    pub fn due(&self) -> Option<UnixMillis> {
        let AaepSessionState::Open { waiting, tools, .. } = &self.state else { return None };
        if self.implicit || !waiting.is_empty() || tools.iter().any(|tool| tool.claimed) {
            return None;
        }
        let silent = self.last_at.plus_secs(self.idle_s);
        Some(self.access_until.map_or(silent, |until| silent.min(until)))
    }
}

/// An event that an agent sent with its own id. A repetition gets the same response and is not published again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentEvent {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    /// Digest of agent, AAEP session and event id.
    pub same: Digest,
    /// Digest of the content.
    pub content: Digest,
    pub answer: AgentEventAnswer,
    /// When the row may be deleted.
    pub expires_at: UnixMillis,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum AgentEventAnswer {
    Opened { session: RowKey },
    Said { event_id: String, sequence_number: i64 },
    Asked { decision: RowKey },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum AaepSessionState {
    Open {
        /// The last `to_state`; `idle` before the first.
        at: String,
        /// The pending questions.
        waiting: Vec<RowKey>,
        /// Tools invoked and not completed.
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
    /// Announced by the hub for a claim: its outcome is reported with the claim, not published by the agent.
    #[serde(default)]
    pub claimed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenOutput {
    pub id: Option<String>,
    /// The start of the next chunk, in code points (C28).
    pub next: i64,
    pub complete: bool,
}

/// One subscriber and its negotiated terms. Only its owner may use its id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Subscription {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    /// `sub_` and 32 hex digits.
    pub id: String,
    pub person: RowKey,
    /// The subscriber's credential.
    pub owner: SubscriptionOwner,
    /// A token of role *reads only* never answers.
    pub may_answer: bool,
    pub subscriber_id: String,
    /// The requested capabilities; the terms are derived from them.
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

/// A revocable credential that a person issues for a subscriber of theirs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubscriberToken {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    pub id: String,
    pub hash: Digest,
    pub person: RowKey,
    /// The person's own name for it: "kitchen speaker".
    pub name: String,
    pub may_answer: bool,
    /// Whether it is valid on the legacy paths with the token in the URL.
    pub legacy: bool,
    /// Whether its person allowed it, with a fresh proof, to approve high-risk irreversible actions.
    #[serde(default)]
    pub approves_high_risk: bool,
    /// The person's generation at creation: the token ends with their sign-in sessions (sign-out everywhere, a new
    /// password).
    pub generation: i64,
    pub created_at: UnixMillis,
    pub expires_at: UnixMillis,
    pub revoked_at: Option<UnixMillis>,
}

/// Whether a subscriber token is valid, and if not, why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenState {
    Active,
    Expired,
    /// Its person signed out everywhere, got a new password or was disabled.
    Ended,
    Revoked,
}

impl TokenState {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Expired => "expired",
            Self::Ended => "ended",
            Self::Revoked => "revoked",
        }
    }
}

impl SubscriberToken {
    pub fn state(&self, person: &Person, now: UnixMillis) -> TokenState {
        match () {
            () if self.revoked_at.is_some() => TokenState::Revoked,
            () if self.generation != person.generation || person.disabled => TokenState::Ended,
            () if now >= self.expires_at => TokenState::Expired,
            () => TokenState::Active,
        }
    }
}
