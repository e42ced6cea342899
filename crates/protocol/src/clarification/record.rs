//! The tamper-evident chain of questions and answers (Clarification 7, W-08 to W-10).

use super::{
    DigestText, Gap, PublicKey, Signature,
    signed::{self, AbandonmentBody, PlanBody, Signable, SignedType},
};
use crate::{
    canonical::{self, NotCanonical},
    hash::Digest,
    mplp::{MplpId, read},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use super::text::Stamp;

/// The whole chain of a session with the signature over its head.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Record {
    pub session_id: MplpId,
    pub chain: Vec<ChainEntry>,
    /// The number of entries that are a question and its answer; other entries are no round.
    pub total_rounds: u64,
    pub all_resolved: bool,
    pub agent_id: String,
    /// The key that signed the chain: the asking agent's current one.
    pub agent_public_key: PublicKey,
    /// Of the session's first plan; the first `prev` binds it.
    pub plan_digest: DigestText,
    pub signed_at: Stamp,
    pub chain_signature: Signature,
}

/// One entry. Entries other than rounds have `event`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged)]
#[expect(clippy::large_enum_variant, reason = "nearly every entry is a round")]
pub enum ChainEntry {
    Round(Round),
    Rotated(Rotated),
    PlanChanged(PlanChanged),
    Abandoned(Abandoned),
}

impl ChainEntry {
    /// Reads an entry strictly. Its `event` decides the kind, so that an error names the wrong member instead of all
    /// alternatives.
    pub fn read(value: &Value) -> Result<Self, read::BadDocument> {
        match value.get("event").and_then(Value::as_str) {
            Some("key_rotated") => read::value(value).map(Self::Rotated),
            Some("plan_changed") => read::value(value).map(Self::PlanChanged),
            Some("abandoned") => read::value(value).map(Self::Abandoned),
            Some(_) => Err(read::BadDocument::new("event", "must be key_rotated, plan_changed or abandoned")),
            None => read::value(value).map(Self::Round),
        }
    }

    pub fn prev(&self) -> DigestText {
        match self {
            Self::Round(entry) => entry.prev,
            Self::Rotated(entry) => entry.prev,
            Self::PlanChanged(entry) => entry.prev,
            Self::Abandoned(entry) => entry.prev,
        }
    }

    pub fn entry_hash(&self) -> DigestText {
        match self {
            Self::Round(entry) => entry.entry_hash,
            Self::Rotated(entry) => entry.entry_hash,
            Self::PlanChanged(entry) => entry.entry_hash,
            Self::Abandoned(entry) => entry.entry_hash,
        }
    }

    pub fn as_round(&self) -> Option<&Round> {
        match self {
            Self::Round(round) => Some(round),
            Self::Rotated(_) | Self::PlanChanged(_) | Self::Abandoned(_) => None,
        }
    }

    /// The entry with its `entry_hash` computed.
    pub fn sealed(mut self) -> Result<Self, NotCanonical> {
        let hash = DigestText(signed::entry_hash(&canonical::value_of(&self)?)?);
        match &mut self {
            Self::Round(entry) => entry.entry_hash = hash,
            Self::Rotated(entry) => entry.entry_hash = hash,
            Self::PlanChanged(entry) => entry.entry_hash = hash,
            Self::Abandoned(entry) => entry.entry_hash = hash,
        }
        Ok(self)
    }
}

impl<'de> Deserialize<'de> for ChainEntry {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::read(&Value::deserialize(from)?).map_err(serde::de::Error::custom)
    }
}

/// A question and its answer. Members beyond the protocol are ours: always written, but not required.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Round {
    /// Counts the rounds of the session from 1.
    pub round: u64,
    pub ask_timestamp: Stamp,
    pub ask_signature: Signature,
    pub gap: Gap,
    pub answer_timestamp: Stamp,
    pub answer: String,
    pub answered_by: AnsweredBy,
    pub answer_signature: Signature,
    /// Whether this answer settled the gap.
    pub resolved: bool,
    /// Of the plan in question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_digest: Option<DigestText>,
    /// The key that signed the question (W-20).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_public_key: Option<PublicKey>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_by: Option<GivenBy>,
    /// The decision in which a person gave the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision_id: Option<String>,
    pub prev: DigestText,
    pub entry_hash: DigestText,
}

/// The signer of an answer: its giver, or the asking agent on the giver's behalf (W-06).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct AnsweredBy {
    pub agent_id: String,
    pub public_key: PublicKey,
    pub attested: bool,
}

/// The giver of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum GivenBy {
    /// The principal that submitted the plan.
    Own,
    Person,
}

impl GivenBy {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Own => "the agent itself",
            Self::Person => "a person",
        }
    }
}

/// From here on another key of the same agent signs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Rotated {
    pub event: RotatedEvent,
    pub timestamp: Stamp,
    pub rotation: Rotation,
    pub prev: DigestText,
    pub entry_hash: DigestText,
}

impl Rotated {
    /// Not hashed yet.
    pub fn new(timestamp: Stamp, rotation: Rotation, prev: DigestText) -> Self {
        Self { event: RotatedEvent::KeyRotated, timestamp, rotation, prev, entry_hash: UNHASHED }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum RotatedEvent {
    #[default]
    #[serde(rename = "key_rotated")]
    KeyRotated,
}

/// The old key's signature for the new one. Made once, so it is the same in all sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Rotation {
    pub agent_id: String,
    pub old_public_key: PublicKey,
    pub new_public_key: PublicKey,
    pub rotated_at: Stamp,
    pub signature: Signature,
}

impl Signable for Rotation {
    const TYPE: SignedType = SignedType::Rotation;
}

/// From here on the questions are about another plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PlanChanged {
    pub event: PlanChangedEvent,
    pub timestamp: Stamp,
    pub plan_digest: DigestText,
    pub agent_public_key: PublicKey,
    pub signature: Signature,
    pub prev: DigestText,
    pub entry_hash: DigestText,
}

impl PlanChanged {
    /// The signed body with its signature. Not hashed yet.
    pub fn new(body: PlanBody, signature: Signature) -> Self {
        Self {
            event: PlanChangedEvent::PlanChanged,
            timestamp: body.timestamp,
            plan_digest: body.plan_digest,
            agent_public_key: body.agent_public_key,
            signature,
            prev: body.prev,
            entry_hash: UNHASHED,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum PlanChangedEvent {
    #[default]
    #[serde(rename = "plan_changed")]
    PlanChanged,
}

/// Ends all questions and answers. A person's abandonment may follow an agent's own: it releases the remaining blocks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Abandoned {
    pub event: AbandonedEvent,
    pub timestamp: Stamp,
    pub abandoned_by: GivenBy,
    /// The ids of the unanswered gaps.
    pub unanswered: Vec<String>,
    pub plan_digest: DigestText,
    pub agent_public_key: PublicKey,
    pub signature: Signature,
    pub prev: DigestText,
    pub entry_hash: DigestText,
}

impl Abandoned {
    /// The signed body with its signature. Not hashed yet.
    pub fn new(body: AbandonmentBody, signature: Signature) -> Self {
        Self {
            event: AbandonedEvent::Abandoned,
            timestamp: body.timestamp,
            abandoned_by: body.abandoned_by,
            unanswered: body.unanswered,
            plan_digest: body.plan_digest,
            agent_public_key: body.agent_public_key,
            signature,
            prev: body.prev,
            entry_hash: UNHASHED,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum AbandonedEvent {
    #[default]
    #[serde(rename = "abandoned")]
    Abandoned,
}

/// Placeholder for the hash of an entry until it is computed: the hash omits its own member.
pub const UNHASHED: DigestText = DigestText(Digest([0; 32]));
