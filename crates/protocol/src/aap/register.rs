//! `POST /agent/register` (AAP 17.1): operator JWT, delegation and receipt for a short-lived access token.

use super::policy::EffectivePolicy;
use serde::{Deserialize, Serialize};

/// The body as it arrives. Everything may be missing; what is missing is told in a fixed order (C-93).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RegisterRequest {
    #[serde(default)]
    pub mode: Option<String>,
    #[serde(default)]
    pub operator_jwt: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegation_token: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consent_receipt: Option<String>,
    /// Echoes: optional, but if given they must match the tokens (C-23).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acting_for: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegation_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RegisterResponse {
    /// Opaque; good for `expires_in` seconds.
    pub access_token: String,
    pub token_type: String,
    pub expires_in: i64,
    pub session_id: String,
    pub effective_policy: EffectivePolicy,
}
