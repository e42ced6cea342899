//! Clarification sessions: what an agent wants to do, what is unclear about it, and the signed chain of what was asked
//! and answered.

use super::Raiser;
use countersign_protocol::{
    clarification::{AnswerKind, Gap, GivenBy, Rotation, Severity},
    hash::Digest,
    ids::RowKey,
    mplp::MplpId,
    time::UnixMillis,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One session of asking. Its chain is in rows of its own; this has the head, and everything that is not said yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClarificationSession {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    pub id: MplpId,
    /// Only the same principal sees it, answers in it and confirms it.
    pub by: Raiser,
    /// Who asks, as every signed document of it says.
    pub agent_id: String,
    /// The key that signed last; what comes next begins with a rotation where another one is in force by then (W-20).
    pub public_key: String,
    /// Who submitted which plan: finds the session again for whoever does not name it (W-11).
    pub same: Digest,
    pub opened_at: UnixMillis,
    /// Nothing of it is dated earlier (W-21).
    pub last_at: UnixMillis,
    pub expires_at: UnixMillis,
    /// Everything that was submitted in it, oldest first; the last one counts.
    pub plans: Vec<Submitted>,
    /// Every gap that was ever asked about.
    pub gaps: Vec<AskedGap>,
    pub rounds: i64,
    pub entries: i64,
    /// The hash of the last entry, or of the beginning.
    pub head: Digest,
    /// The signed message as it stands, sent again verbatim until something changes (W-11).
    pub message: Value,
    /// The signature of the chain as it stands (W-09).
    pub chain_signature: String,
    pub state: ClarificationState,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Submitted {
    pub at: UnixMillis,
    pub digest: Digest,
    pub plan: Value,
}

/// A gap, what found it, and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AskedGap {
    pub gap: Gap,
    /// The place in the plan, as a JSON Pointer.
    pub pointer: String,
    pub rule: String,
    /// Recognises the same finding in a changed plan.
    pub fingerprint: Digest,
    #[serde(default)]
    pub answer_kind: AnswerKind,
    pub state: GapState,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum GapState {
    Open {
        /// The question that a person is asked about it.
        #[serde(default)]
        asked: Option<RowKey>,
        /// What the agent said that was no answer, and why.
        #[serde(default)]
        refused: Option<(String, String)>,
    },
    Resolved {
        /// As it was given.
        answer: String,
        accepted: String,
        given_by: GivenBy,
        at: UnixMillis,
        /// Of two answers for one place the one of the later round stands.
        #[serde(default)]
        round: u64,
        /// Whether it answers a question that the plan of now still raises.
        applies: bool,
    },
    /// The plan was changed before anybody answered.
    Superseded,
    /// The session was given up before anybody answered.
    Abandoned {
        /// The question that a person was asked about it.
        #[serde(default)]
        asked: Option<RowKey>,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum ClarificationState {
    Open,
    /// Its time was over before it was confirmed; what it left open stops nothing any more.
    Expired,
    /// Given up, by its agent or by a person.
    Abandoned {
        at: UnixMillis,
        by: GivenBy,
        /// Whether answers that a person owed still stop what nobody approved since: an agent does not free itself.
        holds: bool,
    },
    /// Nothing was open any more, and its agent said that this is the plan.
    Confirmed {
        at: UnixMillis,
        accepted: Value,
        attestation: Value,
    },
}

/// One link of a chain. Written once, and never changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClarificationEntry {
    pub key: RowKey,
    pub version: i64,
    pub session: RowKey,
    /// From 1 on, without holes.
    pub position: i64,
    pub document: Value,
}

/// A key that asks in a project's name. The one that is not retired signs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClarificationKey {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    /// Counts the keys of a project from 1 on; the highest one signs.
    pub generation: i64,
    pub agent_id: String,
    /// `ed25519:` and 64 hex digits.
    pub public_key: String,
    /// The private part, sealed; gone once another key is in force.
    pub sealed: Option<String>,
    pub created_at: UnixMillis,
    #[serde(default)]
    pub retired_at: Option<UnixMillis>,
    /// Signed by the key before it: that this one follows (W-20).
    #[serde(default)]
    pub rotation: Option<Rotation>,
}

/// Which gap a question to a person is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfGap {
    pub session: RowKey,
    pub gap: String,
}

impl ClarificationSession {
    /// What is to be clear, as it was submitted last.
    pub fn plan(&self) -> Option<&Submitted> {
        self.plans.last()
    }

    pub fn open_gaps(&self) -> impl Iterator<Item = &AskedGap> {
        self.gaps.iter().filter(|asked| asked.is_open())
    }

    /// What nobody has answered about the plan of now, be it open or given up.
    pub fn unanswered(&self) -> impl Iterator<Item = &AskedGap> {
        self.gaps.iter().filter(|asked| matches!(asked.state, GapState::Open { .. } | GapState::Abandoned { .. }))
    }

    /// What a person owed when the session was given up.
    pub fn owed(&self) -> impl Iterator<Item = &AskedGap> {
        let owed = |asked: &&AskedGap| asked.gap.person_must_answer && asked.gap.severity == Severity::Block;
        self.unanswered().filter(owed)
    }

    /// Whether an agent gave it up while a person owed an answer, and nobody released that since.
    pub fn holds(&self) -> bool {
        matches!(self.state, ClarificationState::Abandoned { holds: true, .. })
    }

    pub fn gap(&self, id: &str) -> Option<&AskedGap> {
        self.gaps.iter().find(|asked| asked.gap.id == id)
    }

    pub fn is_confirmed(&self) -> bool {
        matches!(self.state, ClarificationState::Confirmed { .. })
    }

    /// Whether it can be answered and confirmed.
    pub fn is_live(&self, now: UnixMillis) -> bool {
        matches!(self.state, ClarificationState::Open) && now < self.expires_at
    }
}

impl AskedGap {
    pub fn is_open(&self) -> bool {
        matches!(self.state, GapState::Open { .. })
    }

    pub fn is_resolved(&self) -> bool {
        matches!(self.state, GapState::Resolved { .. })
    }

    /// Whether this answer accepts a WARN and so leaves the plan's own value.
    pub fn leaves_as_it_is(&self, accepted: &str) -> bool {
        self.gap.severity == Severity::Warn && accepted == "accept"
    }

    /// Whether it is asked, or answered, about the plan of now.
    pub fn counts(&self) -> bool {
        matches!(self.state, GapState::Open { .. } | GapState::Resolved { applies: true, .. })
    }
}
