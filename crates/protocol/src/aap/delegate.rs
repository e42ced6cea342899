//! Bootstrap (AAP 5.1, 17.2, R-13): from an operator's request to a delegation token.

use super::{
    consent_receipt::UsageLimits,
    policy::{EffectivePolicy, PolicyLayers, PolicySources},
    register::IgnoredMember,
    service_account::GrantedScope,
};
use crate::time::{UnixMillis, rfc3339};
use serde::{Deserialize, Serialize};

/// `POST /agent/delegate/requests`: the operator proves its domain before anything is shown to a person.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ConnectRequestBody {
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = String, required = true))]
    pub operator_jwt: Option<String>,
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = String, required = true))]
    pub mode: Option<String>,
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub scopes: Vec<String>,
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = String, required = true))]
    pub code_challenge: Option<String>,
    /// Only `S256`; absent means the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code_challenge_method: Option<String>,
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = String, required = true))]
    pub state: Option<String>,
    /// An https address that the operator's identity manifest lists; without one the page shows a code to copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_agent_ttl: Option<i64>,
    /// The operator's auto-revoke policy for this delegation; it can only tighten that of its identity manifest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<super::policy::PolicyLayer>))]
    pub policy: Option<serde_json::Value>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ConnectRequestResponse {
    pub request_id: String,
    /// For the person to open in their own browser.
    pub connect_url: String,
    #[serde(with = "rfc3339")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub expires_at: UnixMillis,
    /// Published members of the operator that have no effect here yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<IgnoredMember>,
}

/// `POST /agent/delegate`, by a signed-in person. Without `acknowledged_disclosure` it only shows the disclosure.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DelegateRequest {
    /// The connect request being answered; or `operator` and `scopes` without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scopes: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_agent_ttl: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disclosure_id: Option<String>,
    #[serde(default)]
    pub acknowledged_disclosure: bool,
    /// `false` denies a connect request.
    #[serde(default = "crate::json::enabled")]
    pub approve: bool,
    /// The same as `user_override`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<super::policy::PolicyLayer>))]
    pub policy: Option<serde_json::Value>,
    /// The person's own auto-revoke policy: it tightens the service's and the operator's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<super::policy::PolicyLayer>))]
    pub user_override: Option<serde_json::Value>,
    /// With `org_id` and `granted_scope`: an admin's grant to a service account (AAP 11.2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub org_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<super::service_account::GrantedScope>))]
    pub granted_scope: Option<serde_json::Value>,
    /// Limits of the service account, kept with its grant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<super::consent_receipt::UsageLimits>))]
    pub usage_limits: Option<serde_json::Value>,
    /// Only in test mode, for published vectors that name one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegation_id: Option<String>,
}

/// The first step: the disclosure that the person must read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DisclosureResponse {
    pub disclosure_id: String,
    pub liability_disclosure: String,
    /// The disclosure of the identity mode.
    pub mode_disclosure: String,
    /// The verified domain: the identity of the operator.
    pub operator: String,
    pub scopes: Vec<ScopeInWords>,
    pub language: String,
    #[serde(with = "rfc3339")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub access_ends_at: UnixMillis,
    /// The rules behind `effective_policy`, by party.
    pub auto_revoke_policy: PolicyLayers,
    pub effective_policy: EffectivePolicy,
    pub effective_policy_sources: PolicySources,
}

/// The first step for a service account: everything that the admin is about to grant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ServiceAccountDisclosure {
    pub disclosure_id: String,
    pub operator: String,
    pub account_id: String,
    pub org_id: String,
    /// The e-mail address that the token will name.
    pub authorized_by: String,
    /// Exactly as the token will state it, with `crosses_users` as computed.
    pub granted_scope: GrantedScope,
    pub scopes: Vec<ScopeInWords>,
    /// Methods and paths that say that they have no resource: the scopes alone bound the account there.
    pub routes_without_resource: Vec<String>,
    pub usage_limits: UsageLimits,
    /// That fixed, not personal, credentials are used.
    pub mode_disclosure: String,
    pub language: String,
    #[serde(with = "rfc3339")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub access_ends_at: UnixMillis,
    pub effective_policy: EffectivePolicy,
    pub effective_policy_sources: PolicySources,
}

/// The person denied a connect request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DeniedResponse {
    pub denied: bool,
    /// The next address for the browser, if the operator named one.
    pub redirect: Option<String>,
}

/// The results before a grant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum NotGranted {
    Shown(Box<DisclosureResponse>),
    ServiceAccount(Box<ServiceAccountDisclosure>),
    Denied(DeniedResponse),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScopeInWords {
    pub id: String,
    pub description: String,
    pub irreversible: bool,
    pub never: Vec<String>,
}

/// The second step, 201, to the service's own UI (AAP 17.2). The browser receives only the code: pages and redirects
/// never contain the token.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DelegateResponse {
    pub delegation_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegation_token: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect: Option<String>,
    pub liability_disclosure: String,
    pub effective_policy: EffectivePolicy,
    #[serde(default)]
    pub effective_policy_sources: PolicySources,
}

/// `POST /agent/delegate/token`: the operator exchanges its one-time code.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ExchangeRequest {
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = String, required = true))]
    pub operator_jwt: Option<String>,
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = String, required = true))]
    pub code: Option<String>,
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = String, required = true))]
    pub code_verifier: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ExchangeResponse {
    pub delegation_token: String,
    pub delegation_id: String,
    pub scopes: Vec<String>,
    pub effective_policy: EffectivePolicy,
    #[serde(default)]
    pub effective_policy_sources: PolicySources,
}
