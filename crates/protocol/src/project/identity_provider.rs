//! The identity provider of a project: provisioning of its users (SCIM), and its security events (Shared Signals).

use crate::aap::policy::LifecycleEvent;
use serde::{Deserialize, Serialize};

/// Users provisioned through `/scim/v2`. A user is the person (`issuer`, externalId), never an e-mail address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ScimPolicy {
    /// The issuer of the users' subjects: the `iss` of the identity provider. `local` for accounts with a password here,
    /// which only an installation with one project may provision.
    pub issuer: String,
    /// The roles of every provisioned user.
    #[serde(default = "user_only")]
    pub roles: Vec<String>,
    /// Further roles that the identity provider may assign.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assignable_roles: Vec<String>,
}

/// A transmitter of security events, received at `/ssf/v1/events`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SignalTransmitter {
    /// The `iss` of its tokens, and the issuer of the people in them.
    pub issuer: String,
    /// Its key set, below the issuer's own URL: a transmitter reports about its own people only.
    pub jwks_uri: String,
    /// The `aud` of its tokens.
    pub audience: String,
    /// `local` if its subjects are the names of accounts with a password here, which only an installation with one
    /// project may say. Absent for people of its own issuer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub people: Option<String>,
    /// The lifecycle event that `session-revoked` is, beside the sign-out. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_revoked: Option<LifecycleEvent>,
    /// The lifecycle event that `credential-change` is, beside the sign-out. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credential_change: Option<LifecycleEvent>,
}

fn user_only() -> Vec<String> {
    vec!["user".into()]
}
