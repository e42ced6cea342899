use countersign_protocol::{
    aap::{consent_receipt::UsageLimits, service_account::GrantedScope},
    ids::RowKey,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

use super::Receipt;

/// The person of a delegation that belongs to nobody: a service account's.
pub const NO_PERSON: RowKey = 0;

/// The identity mode of an access token or a connect request (AAP 11.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    #[default]
    UserDelegated,
    ServiceAccount,
}

impl Mode {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UserDelegated => "user_delegated",
            Self::ServiceAccount => "service_account",
        }
    }

    /// The other one of a session with both.
    pub const fn other(self) -> Self {
        match self {
            Self::UserDelegated => Self::ServiceAccount,
            Self::ServiceAccount => Self::UserDelegated,
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Self::UserDelegated, Self::ServiceAccount].into_iter().find(|mode| mode.as_str() == text)
    }
}

/// What an admin granted to a service account (AAP 11.3). It never changes: widening it is a new grant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceAccount {
    pub account_id: String,
    pub org_id: String,
    /// The e-mail address of the admin who confirmed it, and the admin.
    pub authorized_by: String,
    pub admin: RowKey,
    /// `iss` of the token.
    pub service: String,
    pub granted_scope: GrantedScope,
    /// The actions that the scopes allowed when they were granted: a scope that is widened later adds none.
    pub actions: BTreeSet<String>,
    #[serde(default)]
    pub usage_limits: UsageLimits,
}

/// The service account of an AAP session, if that mode was registered in it (AAP 21).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionAccount {
    pub delegation: RowKey,
    pub account_id: String,
    pub receipt: Option<Receipt>,
}

/// A mode that left a session, which goes on in the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormerMode {
    pub mode: Mode,
    /// None for a person's agent without a delegation (T1).
    pub delegation: Option<RowKey>,
}
