//! The discovery manifest (AAP 3, 19.1): a service's offers and requirements for agents.

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use std::collections::BTreeMap;

pub const PATH: &str = "/.well-known/agent-auth.json";

/// Members unknown to the published schema; other sections require most of them (C-08).
pub const EXTENSIONS: &[&str] = &[
    "project_id",
    "dpop_required",
    "disclosures",
    "spec_versions_accepted",
    "spec_versions_supported",
    "spec_version_preferred",
    "companion",
    "resource_origin",
];

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Manifest {
    pub spec: String,
    pub service: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    pub minimum_tier: u8,
    #[serde(default = "crate::json::enabled")]
    pub intent_required: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credential_ttl: Option<i64>,
    #[serde(default = "notify")]
    pub scope_expansion: String,
    #[serde(default, deserialize_with = "at_least_one", skip_serializing_if = "Vec::is_empty")]
    pub identity_modes_supported: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub disclosures: BTreeMap<String, String>,
    #[serde(default)]
    pub scopes: Vec<ScopeEntry>,
    pub endpoints: BTreeMap<String, String>,
    pub conformance: Conformance,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spec_versions_accepted: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spec_versions_supported: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec_version_preferred: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dpop_required: Option<bool>,
    /// A page about the same for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub companion: Option<String>,
    /// The origin of the service's API, if it is not `service`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_origin: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScopeEntry {
    pub id: String,
    pub description: String,
    pub allows: Vec<String>,
    #[serde(default)]
    pub explicitly_excludes: Vec<String>,
    #[serde(default)]
    pub irreversible: bool,
    #[serde(default)]
    pub requires_confirmation: bool,
    /// Seconds; 0 means that nothing can be undone.
    #[serde(default)]
    pub undo_window_s: i64,
    /// Takes the id of an undo URL (AAP 14.1); only with a window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo_endpoint: Option<String>,
    #[serde(default)]
    pub intent_types: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Conformance {
    pub tier: ConformanceTier,
    pub spec: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tested: Option<String>,
}

/// Each tier has everything of the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ConformanceTier {
    #[default]
    Core,
    Extended,
    Full,
}

impl ConformanceTier {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Extended => "extended",
            Self::Full => "full",
        }
    }
}

/// A problem in a manifest published by another service.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the discovery manifest is not usable: {member}: {why}")]
pub struct NotAManifest {
    pub member: &'static str,
    pub why: String,
}

impl Manifest {
    /// Reads a manifest as an agent must: known members are checked, unknown ones ignored (AAP 22.4).
    pub fn parse(bytes: &[u8]) -> Result<Self, NotAManifest> {
        let manifest: Self =
            crate::json::from_slice(bytes).map_err(|e| NotAManifest { member: "document", why: e.to_string() })?;
        manifest.check()?;
        Ok(manifest)
    }

    /// The constraints of AAP 19.1 that the types do not already enforce.
    pub fn check(&self) -> Result<(), NotAManifest> {
        let spec = self.spec.strip_suffix("-draft").unwrap_or(&self.spec);
        demand(is_spec(spec), "spec", "must read aap/MAJOR.MINOR")?;
        let base = self.service.starts_with("http") && !self.service.ends_with('/') && is_uri_reference(&self.service);
        demand(base, "service", "must be a base URI")?;
        demand(
            self.display_name.as_ref().is_none_or(|n| n.chars().count() <= 80),
            "display_name",
            "over 80 characters",
        )?;
        demand((1..=4).contains(&self.minimum_tier), "minimum_tier", "must be 1 to 4")?;
        demand(
            self.credential_ttl.is_none_or(|t| (300..=86400).contains(&t)),
            "credential_ttl",
            "must be 300 to 86400",
        )?;
        demand(
            matches!(self.scope_expansion.as_str(), "reject" | "notify" | "silent"),
            "scope_expansion",
            "unknown value",
        )?;
        let modes = &self.identity_modes_supported;
        demand(modes.iter().all(|m| is_mode(m)), "identity_modes_supported", "unknown mode")?;
        for name in ["register", "delegate", "revoke", "audit"] {
            demand(
                self.endpoints.contains_key(name),
                "endpoints",
                "register, delegate, revoke and audit are required",
            )?;
        }
        demand(self.endpoints.values().all(|e| is_uri_reference(e)), "endpoints", "not a URI reference")?;
        self.scopes.iter().try_for_each(ScopeEntry::check)
    }

    pub fn scope(&self, id: &str) -> Option<&ScopeEntry> {
        self.scopes.iter().find(|scope| scope.id == id)
    }
}

impl ScopeEntry {
    fn check(&self) -> Result<(), NotAManifest> {
        demand(is_scope_id(&self.id), "scopes", "an id must read resource.action in lower case")?;
        demand(self.description.chars().count() <= 200, "scopes", "a description over 200 characters")?;
        demand(!self.allows.is_empty(), "scopes", "allows must list at least one action")
    }
}

/// `^[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*$`
pub fn is_scope_id(id: &str) -> bool {
    let word = |w: &str| {
        w.starts_with(|c: char| c.is_ascii_lowercase())
            && w.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
    };
    id.split_once('.').is_some_and(|(resource, action)| word(resource) && word(action))
}

pub fn is_mode(mode: &str) -> bool {
    matches!(mode, "user_delegated" | "service_account")
}

fn is_spec(spec: &str) -> bool {
    let digits = |d: &str| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit());
    spec.strip_prefix("aap/").and_then(|v| v.split_once('.')).is_some_and(|(a, b)| digits(a) && digits(b))
}

/// Enough of RFC 3986 to refuse clearly invalid references; allows `{projectId}` templates (C-72).
fn is_uri_reference(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|b| b.is_ascii_graphic() && !matches!(b, b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'|'))
}

fn demand(holds: bool, member: &'static str, why: &str) -> Result<(), NotAManifest> {
    if holds { Ok(()) } else { Err(NotAManifest { member, why: why.to_owned() }) }
}

/// A list that may be absent, and not empty.
fn at_least_one<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let list = Vec::deserialize(deserializer)?;
    if list.is_empty() { Err(D::Error::invalid_length(0, &"at least one item")) } else { Ok(list) }
}

fn notify() -> String {
    "notify".into()
}
