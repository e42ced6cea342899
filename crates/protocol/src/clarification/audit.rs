//! All documents that an auditor needs to verify a session offline, including the keys.

use super::{
    Attestation, DigestText, GivenBy, Message, PublicKey, Record, Rotation, Round, Signature, Stamp,
    signed::{AnswerBody, AskBody},
};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// The two views of one chain that the protocol has (6.3 and 7, W-17), with the plans they are about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Audit {
    pub clarification_chain: Vec<SignedRound>,
    pub record: Record,
    /// The session's state, as the agent last signed it.
    pub message: Message,
    /// In the order of submission.
    pub submitted_plans: Vec<SubmittedPlan>,
    #[serde(default, deserialize_with = "object_option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub accepted_plan: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attestation: Option<Attestation>,
}

impl Audit {
    pub const MEMBERS: [&str; 6] =
        ["clarification_chain", "record", "message", "submitted_plans", "accepted_plan", "attestation"];
}

/// A round as signed on both sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SignedRound {
    pub ask: SignedAsk,
    pub answer: SignedAnswer,
    /// When it was answered.
    pub timestamp: Stamp,
    /// Of the answer.
    pub signature: Signature,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_by: Option<GivenBy>,
    pub resolved: bool,
}

impl SignedRound {
    /// The same round in this view. The bodies hold the signed content.
    pub fn of(round: &Round, ask: AskBody, answer: AnswerBody) -> Self {
        Self {
            ask: SignedAsk { body: ask, ask_signature: round.ask_signature.clone() },
            answer: SignedAnswer { body: answer, answer_signature: round.answer_signature.clone() },
            timestamp: round.answer_timestamp.clone(),
            signature: round.answer_signature.clone(),
            given_by: round.given_by,
            resolved: round.resolved,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SignedAsk {
    #[serde(flatten)]
    pub body: AskBody,
    pub ask_signature: Signature,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SignedAnswer {
    #[serde(flatten)]
    pub body: AnswerBody,
    pub answer_signature: Signature,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SubmittedPlan {
    pub plan_digest: DigestText,
    #[serde(deserialize_with = "object")]
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub plan_object: Value,
}

/// A plan is an object with any content.
pub(super) fn object<'de, D: Deserializer<'de>>(from: D) -> Result<Value, D::Error> {
    Map::deserialize(from).map(Value::Object)
}

pub(super) fn object_option<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    object(from).map(Some)
}

/// The keys of one asking agent. A verifier that fetched them from the agent's own address knows the signer (W-19).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PublishedKeys {
    pub agent_id: String,
    pub keys: Vec<PublishedKey>,
    #[serde(default)]
    pub rotations: Vec<Rotation>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PublishedKey {
    pub public_key: PublicKey,
    pub created_at: Stamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retired_at: Option<Stamp>,
}
