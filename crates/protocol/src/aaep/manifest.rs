//! The producer manifest (AAEP 5.10): what we emit, how to reach us, and in which languages. The protocol has no schema
//! for it; ours is in `docs/schemas/aaep`.

use super::{envelope::Verbosity, extension, ids, problem::Problem};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub const PATH: &str = "/.well-known/aaep-manifest.json";
pub const TYPE: &str = "aaep:producer.manifest";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Manifest {
    #[serde(rename = "@context")]
    pub context: Value,
    #[serde(rename = "type")]
    pub kind: String,
    /// The same as in the `producer` of our events; whoever verifies a signature compares the two.
    pub agent_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_name: Option<String>,
    pub aaep_versions_supported: Vec<String>,
    pub conformance_levels_supported: Vec<u8>,
    pub transports_supported: Vec<String>,
    #[serde(default)]
    pub languages_supported: Vec<String>,
    /// Names of types; one that ends in `*` stands for all that begin so.
    #[serde(default)]
    pub event_types_emitted: Vec<String>,
    #[serde(default)]
    pub extensions_supported: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub default_verbosity: Option<Verbosity>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_concurrent_subscriptions: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact: Option<String>,
    /// What the protocol wants discoverable and gives no member for (C26).
    #[serde(rename = "dev_countersign", default, skip_serializing_if = "Option::is_none")]
    pub countersign: Option<Countersign>,
}

/// Our own members, under our prefix.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Countersign {
    /// What stands before `/subscriptions`, `/events`, `/replies` and `/ws`.
    pub path_prefix: String,
    #[serde(default)]
    pub bindings: Vec<Binding>,
}

/// One way to reach us.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Binding {
    /// One of `transports_supported`.
    pub transport: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// How messages are set apart where the transport leaves that open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub framing: Option<String>,
}

impl Manifest {
    /// Reads somebody's manifest. Members that are not known are ignored (AAEP 12).
    pub fn parse(bytes: &[u8]) -> Result<Self, Problem> {
        let manifest: Self = crate::json::from_slice(bytes).map_err(|why| Problem::new("document", why.to_string()))?;
        manifest.check()?;
        Ok(manifest)
    }

    /// What the types do not say already.
    pub fn check(&self) -> Result<(), Problem> {
        let levels = &self.conformance_levels_supported;
        let contact = self.contact.as_deref();
        demand(super::shape::is_context(&self.context), "@context", "must be the core context or begin with it")?;
        demand(self.kind == TYPE, "type", "must be aaep:producer.manifest")?;
        demand(!self.agent_id.is_empty(), "agent_id", "must not be empty")?;
        demand(
            is_list(&self.aaep_versions_supported, ids::is_version),
            "aaep_versions_supported",
            "must name versions",
        )?;
        demand(!levels.is_empty() && levels.iter().all(|l| (1..=3).contains(l)), LEVELS, "must be of 1, 2 and 3")?;
        demand(is_list(&self.transports_supported, |t| !t.is_empty()), "transports_supported", "must name one")?;
        demand(self.languages_supported.iter().all(|l| ids::is_language_tag(l)), "languages_supported", "no such tag")?;
        demand(self.event_types_emitted.iter().all(|t| !t.is_empty()), "event_types_emitted", "must not be empty")?;
        demand(self.extensions_supported.iter().all(|e| ids::is_uri(e)), "extensions_supported", "must be URIs")?;
        demand(self.max_concurrent_subscriptions != Some(0), "max_concurrent_subscriptions", "must be at least 1")?;
        demand(contact.is_none_or(|contact| !contact.is_empty()), "contact", "must not be empty")?;
        self.countersign.as_ref().map_or(Ok(()), Countersign::check)
    }
}

const LEVELS: &str = "conformance_levels_supported";

impl Countersign {
    fn check(&self) -> Result<(), Problem> {
        let sound = |b: &Binding| !b.transport.is_empty() && b.uri.as_deref().is_none_or(ids::is_uri);
        demand(self.path_prefix.starts_with('/'), extension::PREFIX, "path_prefix must begin with a slash")?;
        demand(self.bindings.iter().all(sound), extension::PREFIX, "a binding needs a transport, and its uri a scheme")
    }
}

fn is_list(texts: &[String], sound: fn(&str) -> bool) -> bool {
    !texts.is_empty() && texts.iter().all(|text| sound(text))
}

fn demand(holds: bool, member: &str, why: &str) -> Result<(), Problem> {
    if holds { Ok(()) } else { Err(Problem::new(member, why)) }
}

#[cfg(test)]
mod tests;
