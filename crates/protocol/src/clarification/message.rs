//! The clarification message: sent by an agent instead of a guess (Clarification 4).

use super::{
    Gap, PROTOCOL_VERSION, PublicKey, SCHEMA, Signature, Stamp,
    signed::{Signable, SignedType},
};
use crate::mplp::MplpId;
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

/// The signature covers everything but `signature` (W-03).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Message {
    #[serde(rename = "$schema", deserialize_with = "schema")]
    pub schema: String,
    #[serde(deserialize_with = "protocol_version")]
    pub protocol_version: String,
    pub session_id: MplpId,
    pub agent_id: String,
    pub agent_public_key: PublicKey,
    pub timestamp: Stamp,
    pub status: Status,
    /// The open gaps, in the order of their discovery.
    pub gaps: Vec<Gap>,
    /// The number of resolved gaps of the session, including accepted WARN gaps (W-15).
    pub accepted_gaps: u64,
    pub blocking_gaps: u64,
    pub warning_gaps: u64,
    pub signature: Signature,
}

impl Signable for Message {
    const TYPE: SignedType = SignedType::Message;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// A gap is open, even if only a WARN.
    NeedsClarification,
    /// No gap is open. A plan comes only from confirming (W-16).
    ReadyToProceed,
}

fn schema<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    exactly(from, SCHEMA)
}

pub(super) fn protocol_version<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    exactly(from, PROTOCOL_VERSION)
}

pub(super) fn exactly<'de, D: Deserializer<'de>>(from: D, wanted: &str) -> Result<String, D::Error> {
    let found = String::deserialize(from)?;
    if found == wanted { Ok(found) } else { Err(D::Error::custom(format_args!("must be {wanted}"))) }
}
