//! A project's document: what it publishes, what it offers, and the routes that offer it.
//!
//! One versioned document in the database; `countersign project apply FILE` replaces it.

use crate::ids::ProjectId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ProjectDocument {
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub id: ProjectId,
    #[serde(default)]
    pub display_name: String,
    /// The trust tier that registering needs, 1 to 4.
    #[serde(default = "default::minimum_tier")]
    pub minimum_tier: u8,
    #[serde(default = "default::yes")]
    pub intent_required: bool,
    /// Whether an intent type that no scope lists is refused, or let through and marked in the audit.
    #[serde(default = "default::yes")]
    pub strict_intent_types: bool,
    /// The longest life of an access token, in seconds.
    #[serde(default = "default::ttl")]
    pub credential_ttl: i64,
    /// The longest life of access tokens that one delegation allows, in seconds.
    #[serde(default = "default::ttl")]
    pub max_agent_ttl: i64,
    /// How long a delegation lasts at most: `90d`, `12h`, `P7D`.
    #[serde(default = "default::max_duration")]
    pub max_duration: String,
    /// How long the delegation token itself is good for, if shorter than `max_duration`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_duration: Option<String>,
    #[serde(default = "default::scope_expansion")]
    pub scope_expansion: String,
    #[serde(default = "default::modes")]
    pub identity_modes_supported: Vec<String>,
    /// What people are told about each mode. A mode without an entry gets the built-in text.
    #[serde(default)]
    pub disclosures: BTreeMap<String, String>,
    /// What people acknowledge before an agent is connected, where its operator has no text of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub liability_disclosure: Option<String>,
    /// A page for people, served beside the manifest at `/.well-known/agent-auth.txt`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub companion: Option<String>,
    #[serde(default)]
    pub scopes: Vec<Scope>,
    #[serde(default)]
    pub routes: Vec<Route>,
}

/// What a scope lets an agent do. The service's definition counts, whatever a receipt says (AAP 12.3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Scope {
    pub id: String,
    pub description: String,
    pub allows: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub explicitly_excludes: Vec<String>,
    #[serde(default)]
    pub irreversible: bool,
    #[serde(default)]
    pub requires_confirmation: bool,
    /// Seconds; 0 means that nothing can be taken back.
    #[serde(default)]
    pub undo_window_s: i64,
    pub intent_types: Vec<String>,
    /// Whether an operator without a user (T1) may use its read routes.
    #[serde(default)]
    pub low_stakes: bool,
}

/// A method and path of the API behind the gateway, and what calling it means.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Route {
    pub id: String,
    pub method: String,
    /// `/calendar/events/{event}`: a name in braces stands for one segment.
    pub path: String,
    pub action: String,
    /// Unless said otherwise, every method but GET, HEAD and OPTIONS writes (C-80).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<bool>,
    /// The trust tier this route needs, if more than the project's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum_tier: Option<u8>,
}

impl Route {
    pub fn writes(&self) -> bool {
        self.writes.unwrap_or(!matches!(self.method.as_str(), "GET" | "HEAD" | "OPTIONS"))
    }
}

mod default {
    pub(super) fn minimum_tier() -> u8 {
        2
    }
    pub(super) fn yes() -> bool {
        true
    }
    pub(super) fn ttl() -> i64 {
        3600
    }
    pub(super) fn max_duration() -> String {
        "90d".into()
    }
    pub(super) fn scope_expansion() -> String {
        "reject".into()
    }
    pub(super) fn modes() -> Vec<String> {
        vec!["user_delegated".into()]
    }
}
