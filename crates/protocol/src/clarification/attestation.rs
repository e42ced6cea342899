//! The agent's attestation that every gap was answered before it continued (Clarification 9, W-27).

use super::{
    DigestText, PublicKey, Signature, Stamp,
    message::exactly,
    signed::{Signable, SignedType},
};
use crate::mplp::MplpId;
use serde::{Deserialize, Deserializer, Serialize};

pub const ATTESTATION_VERSION: &str = "1.0.0";

/// Covers the chain it refers to: the signature is over everything but itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Attestation {
    #[serde(deserialize_with = "version")]
    pub attestation_version: String,
    pub session_id: MplpId,
    pub agent_id: String,
    pub agent_public_key: PublicKey,
    pub issued_at: Stamp,
    /// Of the accepted plan.
    pub plan_digest: DigestText,
    pub inputs: Inputs,
    pub clarification: ChainReference,
    pub signature: Signature,
}

impl Signable for Attestation {
    const TYPE: SignedType = SignedType::Attestation;
}

/// The members that identify the chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Inputs {
    pub clarification_rounds: u64,
    /// The head of the chain.
    pub clarification_chain_ref: DigestText,
}

/// The exact chain: its length, its head and the signature over both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ChainReference {
    pub rounds: u64,
    pub head: DigestText,
    pub chain_signature: Signature,
}

fn version<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    exactly(from, ATTESTATION_VERSION)
}
