//! Clarification sessions: an agent's plan, its gaps, and the signed chain of questions and answers.

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

/// One clarification session. The entries of its chain are separate rows; this row has the head and the current state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClarificationSession {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    pub id: MplpId,
    /// Only the same principal sees it, answers in it and confirms it.
    pub by: Raiser,
    /// The asking agent's id in every signed document of the session.
    pub agent_id: String,
    /// The key of the last signature; if another key is active by then, the next entry is a rotation (W-20).
    pub public_key: String,
    /// Digest of submitter and plan: finds the session if a caller does not name it (W-11).
    pub same: Digest,
    pub opened_at: UnixMillis,
    /// No later entry has an earlier timestamp (W-21).
    pub last_at: UnixMillis,
    pub expires_at: UnixMillis,
    /// All submitted plans, oldest first; the last one counts.
    pub plans: Vec<Submitted>,
    /// Every gap ever asked about.
    pub gaps: Vec<AskedGap>,
    pub rounds: i64,
    pub entries: i64,
    /// The hash of the last entry, or of the beginning.
    pub head: Digest,
    /// The current signed message, sent unchanged until the session changes (W-11).
    pub message: Value,
    /// The current signature of the chain (W-09).
    pub chain_signature: String,
    pub state: ClarificationState,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Submitted {
    pub at: UnixMillis,
    pub digest: Digest,
    pub plan: Value,
}

/// A gap with its finding and its state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AskedGap {
    pub gap: Gap,
    /// The place in the plan, as a JSON Pointer.
    pub pointer: String,
    pub rule: String,
    /// Identifies the same finding in a changed plan.
    pub fingerprint: Digest,
    #[serde(default)]
    pub answer_kind: AnswerKind,
    pub state: GapState,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum GapState {
    Open {
        /// The decision that asks a person about it.
        #[serde(default)]
        asked: Option<RowKey>,
        /// The agent's unusable answer, and the reason.
        #[serde(default)]
        refused: Option<(String, String)>,
    },
    Resolved {
        /// The answer as given.
        answer: String,
        accepted: String,
        given_by: GivenBy,
        at: UnixMillis,
        /// The later round wins if two answers concern the same place.
        #[serde(default)]
        round: u64,
        /// Whether the current plan still raises this question.
        applies: bool,
    },
    /// The plan was changed before an answer.
    Superseded,
    /// The session was abandoned before an answer.
    Abandoned {
        /// The decision that asked a person about it.
        #[serde(default)]
        asked: Option<RowKey>,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum ClarificationState {
    Open,
    /// Expired before it was confirmed; its open gaps block nothing any more.
    Expired,
    /// Abandoned by its agent or by a person.
    Abandoned {
        at: UnixMillis,
        by: GivenBy,
        /// Whether questions that a person had to answer still block calls without a later approval: an agent cannot
        /// release itself.
        holds: bool,
    },
    /// The agent confirmed the plan, with no gap open.
    Confirmed {
        at: UnixMillis,
        accepted: Value,
        attestation: Value,
    },
}

/// One entry of a chain. Written once and never changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClarificationEntry {
    pub key: RowKey,
    pub version: i64,
    pub session: RowKey,
    /// From 1 on, without gaps.
    pub position: i64,
    pub document: Value,
}

/// A key that signs a project's questions. Only the key that is not retired signs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClarificationKey {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    /// Counts the keys of a project from 1; the highest one signs.
    pub generation: i64,
    pub agent_id: String,
    /// `ed25519:` and 64 hex digits.
    pub public_key: String,
    /// The encrypted private key; deleted once another key is active.
    pub sealed: Option<String>,
    pub created_at: UnixMillis,
    #[serde(default)]
    pub retired_at: Option<UnixMillis>,
    /// The previous key's signature that this one follows (W-20).
    #[serde(default)]
    pub rotation: Option<Rotation>,
}

/// The gap behind a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfGap {
    pub session: RowKey,
    pub gap: String,
}

impl ClarificationSession {
    /// The plan submitted last.
    pub fn plan(&self) -> Option<&Submitted> {
        self.plans.last()
    }

    pub fn open_gaps(&self) -> impl Iterator<Item = &AskedGap> {
        self.gaps.iter().filter(|asked| asked.is_open())
    }

    /// The gaps of the current plan without an answer, open or abandoned.
    pub fn unanswered(&self) -> impl Iterator<Item = &AskedGap> {
        self.gaps.iter().filter(|asked| matches!(asked.state, GapState::Open { .. } | GapState::Abandoned { .. }))
    }

    /// The BLOCKs that a person had to answer when the session was abandoned.
    pub fn unanswered_blocks(&self) -> impl Iterator<Item = &AskedGap> {
        let owed = |asked: &&AskedGap| asked.gap.person_must_answer && asked.gap.severity == Severity::Block;
        self.unanswered().filter(owed)
    }

    /// Whether an agent abandoned it while a person had to answer, and nobody released that since.
    pub fn still_blocks(&self) -> bool {
        matches!(self.state, ClarificationState::Abandoned { holds: true, .. })
    }

    /// From when on nothing depends on it any more.
    pub fn ended_at(&self) -> UnixMillis {
        match self.state {
            ClarificationState::Confirmed { at, .. } | ClarificationState::Abandoned { at, holds: false, .. } => at,
            ClarificationState::Open | ClarificationState::Expired | ClarificationState::Abandoned { .. } => {
                self.expires_at
            }
        }
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

    /// Whether this answer accepts a WARN and so keeps the plan's own value.
    pub fn keeps_value(&self, accepted: &str) -> bool {
        self.gap.severity == Severity::Warn && accepted == "accept"
    }

    /// Whether it is asked or answered about the current plan.
    pub fn is_current(&self) -> bool {
        matches!(self.state, GapState::Open { .. } | GapState::Resolved { applies: true, .. })
    }
}
