//! `POST /agent/register` (AAP 17.1): operator JWT, delegation and receipt for a short-lived access token.

use super::policy::{EffectivePolicy, PolicySources};
use serde::{Deserialize, Serialize};

/// The body as received. Every member may be missing; missing ones are reported in a fixed order (C-93).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RegisterRequest {
    /// One of `identity_modes_supported` in the discovery manifest; there is no default.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = String, required = true))]
    pub mode: Option<String>,
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = String, required = true))]
    pub operator_jwt: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegation_token: Option<String>,
    /// In mode `service_account` the same as `delegation_token`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub svc_delegation: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consent_receipt: Option<String>,
    /// Echoes: optional, but if given they must match the tokens (C-23).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acting_for: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegation_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authorized_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub org_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<super::service_account::GrantedScope>))]
    pub granted_scope: Option<serde_json::Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RegisterResponse {
    /// Opaque; valid for `expires_in` seconds.
    pub access_token: String,
    pub token_type: String,
    pub expires_in: i64,
    pub session_id: String,
    /// The id of a service account's grant: its token has none (C-47).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegation_id: Option<String>,
    pub effective_policy: EffectivePolicy,
    /// Whose rule decided each dimension.
    #[serde(default, skip_serializing_if = "PolicySources::is_empty")]
    pub effective_policy_sources: PolicySources,
    /// Members sent or published for this request that have no effect here yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<IgnoredMember>,
}

/// A member that was read and has no effect, so that nobody relies on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct IgnoredMember {
    pub member: String,
    /// The reason, and the alternative.
    pub reason: String,
}
