//! The audit of a whole project, for its auditors: which entries they asked for, and what each one says at a glance.

use countersign_protocol::{ids::RowKey, time::UnixMillis};
use serde_json::{Map, Value};

/// What an auditor asks for. Everything that is given must fit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    pub person: Option<AuditedPerson>,
    pub operator: Option<String>,
    pub agent: Option<AuditedAgent>,
    /// The action of a route or a tool.
    pub action: Option<String>,
    pub outcome: Option<AuditOutcome>,
    pub event_type: Option<String>,
    pub decision_id: Option<String>,
    /// Inclusive.
    pub from: Option<UnixMillis>,
    /// Exclusive.
    pub to: Option<UnixMillis>,
}

/// A person, and the rows through which entries are about them without naming them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditedPerson {
    pub subject: String,
    pub delegations: Vec<RowKey>,
    /// The ids of API keys for which the person is responsible.
    pub principals: Vec<String>,
}

/// An agent: the id as it was asked for, and the rows that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditedAgent {
    pub id: String,
    pub delegations: Vec<RowKey>,
    pub sessions: Vec<RowKey>,
}

/// An entry of the log with its members opened.
#[derive(Clone, Copy, Debug)]
pub struct AuditedEntry<'a> {
    pub at: UnixMillis,
    pub delegation: Option<RowKey>,
    pub session: Option<RowKey>,
    pub members: &'a Map<String, Value>,
}

/// The hidden members that name a person.
const NAMES: [&str; 9] = [
    "acting_for",
    "approved_by",
    "authorized_by",
    "by",
    "decided_by",
    "named_admin",
    "person",
    "subject",
    "claimed_decided_by",
];

impl AuditFilter {
    pub fn fits(&self, entry: &AuditedEntry<'_>) -> bool {
        self.fits_time(entry.at)
            && is_or_any(self.operator.as_deref(), entry.text("operator"))
            && is_or_any(self.event_type.as_deref(), entry.text("event_type"))
            && is_or_any(self.decision_id.as_deref(), entry.text("decision_id"))
            && self.outcome.is_none_or(|outcome| AuditOutcome::of(entry.members) == outcome)
            && self.action.as_deref().is_none_or(|action| entry.is_about_action(action))
            && self.agent.as_ref().is_none_or(|agent| agent.acts_in(entry))
            && self.person.as_ref().is_none_or(|person| person.is_in(entry))
    }

    fn fits_time(&self, at: UnixMillis) -> bool {
        self.from.is_none_or(|from| at >= from) && self.to.is_none_or(|to| at < to)
    }
}

fn is_or_any(wanted: Option<&str>, found: Option<&str>) -> bool {
    wanted.is_none() || wanted == found
}

impl<'a> AuditedEntry<'a> {
    fn text(&self, name: &str) -> Option<&'a str> {
        self.members.get(name)?.as_str()
    }

    fn is_about_action(&self, action: &str) -> bool {
        ["action", "tool"].iter().any(|name| self.text(name) == Some(action))
    }
}

impl AuditedAgent {
    fn acts_in(&self, entry: &AuditedEntry<'_>) -> bool {
        let named = ["delegation_id", "session_id", "principal", "key_id", "account_id"];
        named.iter().any(|name| entry.text(name) == Some(self.id.as_str()))
            || entry.delegation.is_some_and(|key| self.delegations.contains(&key))
            || entry.session.is_some_and(|key| self.sessions.contains(&key))
    }
}

impl AuditedPerson {
    /// Whether the entry names the person, or is of an agent that acts for them.
    pub fn is_in(&self, entry: &AuditedEntry<'_>) -> bool {
        let subjects = entry.members.get("data_subjects").and_then(Value::as_array);
        NAMES.iter().any(|name| entry.text(name) == Some(self.subject.as_str()))
            || subjects.is_some_and(|all| all.iter().any(|one| one == self.subject.as_str()))
            || entry.delegation.is_some_and(|key| self.delegations.contains(&key))
            || entry.text("delegation_id").is_none()
                && entry.text("principal").is_some_and(|id| self.is_responsible(id))
    }

    fn is_responsible(&self, principal: &str) -> bool {
        self.principals.iter().any(|own| own == principal)
    }
}

macro_rules! outcomes {
    ($($(#[$doc:meta])* $name:ident = $word:literal),+ $(,)?) => {
        /// What an entry says at a glance.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum AuditOutcome { $($(#[$doc])* $name),+ }

        impl AuditOutcome {
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word),+ }
            }
        }
    };
}

outcomes! {
    /// A person approved or answered.
    Accepted = "accepted",
    Answered = "answered",
    Rejected = "rejected",
    /// Nobody answered in time, or an approval was not used in time.
    Expired = "expired",
    /// A question or an approval was taken back.
    Cancelled = "cancelled",
    /// Countersign refused a call.
    Refused = "refused",
    /// An action took effect.
    Committed = "committed",
    /// An action did not take effect.
    Failed = "failed",
    Unknown = "unknown",
    /// A person stated an outcome that was unknown.
    Reconciled = "reconciled",
    /// A report contradicts a settled outcome.
    Conflict = "conflict",
    /// A delegation or a session ended.
    Ended = "ended",
    /// A call was answered, with no effect to speak of.
    Done = "done",
    /// Everything else that was recorded.
    Recorded = "recorded",
    /// The entry was altered: nothing is known of it.
    Altered = "altered",
}

impl AuditOutcome {
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|outcome| outcome.as_str() == word)
    }

    pub fn of(members: &Map<String, Value>) -> Self {
        let text = |name: &str| members.get(name).and_then(Value::as_str);
        match text("event_type").unwrap_or_default() {
            "call" => of_call(text("outcome").unwrap_or_default(), text("effect")),
            "decision_settled" => text("state").and_then(Self::parse).unwrap_or(Self::Recorded),
            "execution_settled" | "call_settled" if text("reported_by").is_none_or(|by| by == "person") => {
                Self::Reconciled
            }
            "execution_settled" => text("outcome").and_then(Self::parse).unwrap_or(Self::Recorded),
            "execution_unknown" | "execution_probe_ended" => Self::Unknown,
            "execution_conflict" | "call_conflict" => Self::Conflict,
            "allowance_lapsed" => Self::Expired,
            "allowance_cancelled" => Self::Cancelled,
            "delegation_revoked" | "auto_revoked" | "consent_revoked" | "session_cancelled" | "api_key_revoked" => {
                Self::Ended
            }
            _ => Self::Recorded,
        }
    }
}

/// A refusal is a status with one of our codes; a response of the upstream has a reason phrase instead.
fn of_call(outcome: &str, effect: Option<&str>) -> AuditOutcome {
    let ours = |phrase: &str| {
        !phrase.is_empty()
            && phrase.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    };
    match (effect, outcome.split_once(' ')) {
        (Some("committed"), _) => AuditOutcome::Committed,
        (Some("unknown"), _) => AuditOutcome::Unknown,
        _ if outcome.starts_with("not sent") => AuditOutcome::Refused,
        _ if outcome.starts_with("unknown") => AuditOutcome::Unknown,
        (_, Some((status, phrase))) if status.bytes().all(|byte| byte.is_ascii_digit()) && ours(phrase) => {
            AuditOutcome::Refused
        }
        (Some(_), _) => AuditOutcome::Failed,
        (None, _) => AuditOutcome::Done,
    }
}

#[cfg(test)]
mod tests;
