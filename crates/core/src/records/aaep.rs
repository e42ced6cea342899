//! AAEP: sessions that agents speak in, subscriptions that listen, and the tokens that people give to subscribers.

use super::Person;
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
    /// How long nothing may be said in it before it is taken for abandoned.
    #[serde(default = "an_hour")]
    pub idle_s: i64,
    /// When the agent's access ends by itself.
    #[serde(default)]
    pub access_until: Option<UnixMillis>,
    pub state: AaepSessionState,
}

fn an_hour() -> i64 {
    3600
}

impl AaepSession {
    /// When it is ended unless its agent says something. Never while a question waits or a claimed call runs: these
    /// have deadlines of their own, and what they come to is said in it.
    pub fn due(&self) -> Option<UnixMillis> {
        let AaepSessionState::Open { waiting, tools, .. } = &self.state else { return None };
        if self.implicit || !waiting.is_empty() || tools.iter().any(|tool| tool.claimed) {
            return None;
        }
        let silent = self.last_at.plus_secs(self.idle_s);
        Some(self.access_until.map_or(silent, |until| silent.min(until)))
    }
}

/// An event that an agent sent under an id of its own. Sent again, it is answered as it was and told nobody.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentEvent {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    /// Which agent, AAEP session and event id.
    pub same: Digest,
    /// What it said.
    pub content: Digest,
    pub answer: AgentEventAnswer,
    /// When it may be forgotten.
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
    /// Whether its person allowed it, with a fresh proof, to approve high-risk irreversible actions.
    #[serde(default)]
    pub approves_high_risk: bool,
    /// The person's when it was made: it ends with their sign-ins (sign-out everywhere, a new password).
    pub generation: i64,
    pub created_at: UnixMillis,
    pub expires_at: UnixMillis,
    pub revoked_at: Option<UnixMillis>,
}

/// Whether a subscriber token still counts, and if not, since what.
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
