//! The signed and hashed bytes (W-02, W-04, W-07 to W-09).
//!
//! A signature covers `wwa-clarification/1.0.0`, a space, the type, a zero byte and the canonical JSON of a body. The
//! type keeps a signature from passing for one of another kind; canonical JSON has no zero byte.

use super::{AnsweredBy, Gap, GivenBy, PublicKey, Stamp};
use crate::{
    canonical::{self, NotCanonical},
    hash::Digest,
    mplp::MplpId,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use super::text::DigestText;

const CONTEXT: &str = "wwa-clarification/1.0.0 ";

/// The purpose of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignedType {
    Message,
    Ask,
    Answer,
    Chain,
    Rotation,
    Plan,
    Abandonment,
    Attestation,
    Handoff,
}

impl SignedType {
    pub const ALL: [Self; 9] = [
        Self::Message,
        Self::Ask,
        Self::Answer,
        Self::Chain,
        Self::Rotation,
        Self::Plan,
        Self::Abandonment,
        Self::Attestation,
        Self::Handoff,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Ask => "ask",
            Self::Answer => "answer",
            Self::Chain => "chain",
            Self::Rotation => "rotation",
            Self::Plan => "plan",
            Self::Abandonment => "abandonment",
            Self::Attestation => "attestation",
            Self::Handoff => "handoff",
        }
    }
}

/// A document signed over all of its members but `signature`.
pub trait Signable: Serialize {
    const TYPE: SignedType;

    /// The signed bytes. An existing `signature` is ignored.
    fn input(&self) -> Result<Vec<u8>, NotCanonical> {
        input(Self::TYPE, &without(&canonical::value_of(self)?, "signature"))
    }
}

pub fn input(kind: SignedType, body: &Value) -> Result<Vec<u8>, NotCanonical> {
    let body = canonical::of_value(body)?;
    Ok([CONTEXT.as_bytes(), kind.as_str().as_bytes(), b"\0", &body].concat())
}

/// The document without one of its members.
pub fn without(document: &Value, member: &str) -> Value {
    match document {
        Value::Object(members) => Value::Object(
            members.iter().filter(|(name, _)| *name != member).map(|(n, v)| (n.clone(), v.clone())).collect(),
        ),
        other => other.clone(),
    }
}

/// The first `prev` of a chain, which binds it to one session and its first plan.
pub fn genesis(session_id: &MplpId, plan_digest: &Digest) -> Digest {
    let plan = DigestText(*plan_digest).to_string();
    Digest::of_parts(&[CONTEXT.as_bytes(), b"genesis\0", session_id.as_str().as_bytes(), plan.as_bytes()])
}

/// The hash of an entry, without its own `entry_hash`.
pub fn entry_hash(entry: &Value) -> Result<Digest, NotCanonical> {
    let body = canonical::of_value(&without(entry, "entry_hash"))?;
    Ok(Digest::of_parts(&[CONTEXT.as_bytes(), b"entry\0", &body]))
}

pub fn plan_digest(plan: &Value) -> Result<Digest, NotCanonical> {
    canonical::of_value(plan).map(|bytes| Digest::of(&bytes))
}

/// The hash by which an answer names its question.
pub fn ask_hash(ask: &AskBody) -> Result<DigestText, NotCanonical> {
    ask.input().map(|input| hash_of_input(&input))
}

/// The same from the signed bytes.
pub fn hash_of_input(ask_input: &[u8]) -> DigestText {
    DigestText(Digest::of(ask_input))
}

/// Binds a question to its session, round, plan and the chain before it (W-04).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AskBody {
    pub session_id: MplpId,
    pub round: u64,
    pub agent_id: String,
    pub agent_public_key: PublicKey,
    pub ask_timestamp: Stamp,
    pub gap: Gap,
    pub plan_digest: DigestText,
    pub prev: DigestText,
}

/// Binds an answer to exactly the asked question (W-07).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AnswerBody {
    pub session_id: MplpId,
    pub round: u64,
    pub gap_id: String,
    pub answer: String,
    pub answer_timestamp: Stamp,
    pub answered_by: AnsweredBy,
    pub ask_hash: DigestText,
}

/// Binds the whole chain through its head (W-09).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainBody {
    pub session_id: MplpId,
    pub total_rounds: u64,
    pub all_resolved: bool,
    /// The last `entry_hash`; of an empty chain its genesis.
    pub head: DigestText,
    pub signed_at: Stamp,
    pub agent_id: String,
    pub agent_public_key: PublicKey,
}

/// States that questions are about another plan from here on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanBody {
    pub session_id: MplpId,
    pub agent_id: String,
    pub agent_public_key: PublicKey,
    pub timestamp: Stamp,
    pub plan_digest: DigestText,
    pub prev: DigestText,
}

/// States that the session is over, and lists the unanswered gaps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AbandonmentBody {
    pub session_id: MplpId,
    pub agent_id: String,
    pub agent_public_key: PublicKey,
    pub timestamp: Stamp,
    pub abandoned_by: GivenBy,
    pub unanswered: Vec<String>,
    pub plan_digest: DigestText,
    pub prev: DigestText,
}

impl Signable for AskBody {
    const TYPE: SignedType = SignedType::Ask;
}

impl Signable for AnswerBody {
    const TYPE: SignedType = SignedType::Answer;
}

impl Signable for ChainBody {
    const TYPE: SignedType = SignedType::Chain;
}

impl Signable for PlanBody {
    const TYPE: SignedType = SignedType::Plan;
}

impl Signable for AbandonmentBody {
    const TYPE: SignedType = SignedType::Abandonment;
}

#[cfg(test)]
mod tests;
