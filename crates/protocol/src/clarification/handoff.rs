//! The handoff to another agent: the plan with all of its questions and answers (Clarification 9, W-28).

use super::{
    PublicKey, Record, Signature, Stamp,
    audit::object_option,
    message::exactly,
    signed::{Signable, SignedType},
};
use crate::mplp::MplpId;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

pub const HANDOFF_VERSION: &str = "1.0.0";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Handoff {
    #[serde(deserialize_with = "version")]
    pub handoff_version: String,
    pub session_id: MplpId,
    pub agent_id: String,
    pub agent_public_key: PublicKey,
    pub created_at: Stamp,
    /// The accepted plan; absent before the confirmation.
    #[serde(default, deserialize_with = "object_option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub plan: Option<Value>,
    pub context: HandoffContext,
    pub signature: Signature,
}

impl Signable for Handoff {
    const TYPE: SignedType = SignedType::Handoff;
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct HandoffContext {
    pub clarification: Record,
}

fn version<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    exactly(from, HANDOFF_VERSION)
}
