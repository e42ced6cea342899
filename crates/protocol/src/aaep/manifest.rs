//! The producer manifest (AAEP 5.10): emitted events, bindings and languages. The protocol has no schema for it; ours
//! is in `docs/schemas/aaep`.

use super::{
    envelope::Verbosity,
    extension, ids,
    problem::MemberProblem,
    shape::{
        FREE, List, MAX_INTEGER,
        MemberShape::{self, Context, Integer, Like, OneOf, Open, Text},
        ShapeMember, Stage,
    },
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub const PATH: &str = "/.well-known/aaep-manifest.json";
pub const TYPE: &str = "aaep:producer.manifest";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = AaepManifest))]
pub struct Manifest {
    #[serde(rename = "@context")]
    pub context: Value,
    #[serde(rename = "type")]
    pub kind: String,
    /// The same as in the `producer` of our events; a signature verifier compares the two.
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
    /// Names of types; one that ends in `*` is a prefix.
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
    /// Members that the protocol requires to be discoverable without naming them (C26).
    #[serde(rename = "dev_countersign", default, skip_serializing_if = "Option::is_none")]
    pub countersign: Option<Countersign>,
}

/// Our own members, under our prefix.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Countersign {
    /// The prefix of `/subscriptions`, `/events`, `/replies` and `/ws`.
    pub path_prefix: String,
    #[serde(default)]
    pub bindings: Vec<Binding>,
}

/// One transport binding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Binding {
    /// One of `transports_supported`.
    pub transport: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// The message framing, if the transport leaves it open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub framing: Option<String>,
}

impl Manifest {
    /// Reads a producer's manifest. Unknown members are ignored (AAEP 12).
    pub fn parse(bytes: &[u8]) -> Result<Self, MemberProblem> {
        let mut value = crate::json::value(bytes).map_err(|why| MemberProblem::new("manifest", why.to_string()))?;
        let mut found = Vec::new();
        MANIFEST.check("manifest", &value, Stage::Emitted, &mut found);
        if let Some(problem) = found.into_iter().next() {
            return Err(problem);
        }
        MANIFEST.whole(&mut value);
        serde_json::from_value(value).map_err(|_| MemberProblem::new("manifest", "could not be read"))
    }
}

const MANIFEST: MemberShape = Open(&[
    ShapeMember::must("@context", Context),
    ShapeMember::must("type", OneOf(&[TYPE])),
    ShapeMember::must("agent_id", NAME),
    ShapeMember::may("agent_version", FREE),
    ShapeMember::may("agent_name", FREE),
    ShapeMember::must(
        "aaep_versions_supported",
        MemberShape::List(&some(Like(ids::is_version, "a version such as 1.0.0"))),
    ),
    ShapeMember::must("conformance_levels_supported", MemberShape::List(&some(Integer(1, 3)))),
    ShapeMember::must("transports_supported", MemberShape::List(&some(NAME))),
    ShapeMember::may("languages_supported", MemberShape::List(&any(Like(ids::is_language_tag, "a language tag")))),
    ShapeMember::may("event_types_emitted", MemberShape::List(&any(NAME))),
    ShapeMember::may("extensions_supported", MemberShape::List(&any(URI))),
    ShapeMember::may("default_verbosity", OneOf(&["terse", "normal", "detailed"])),
    ShapeMember::may("max_concurrent_subscriptions", Integer(1, MAX_INTEGER)),
    ShapeMember::may("contact", NAME),
    ShapeMember::may(extension::PREFIX, Open(COUNTERSIGN)),
]);

const COUNTERSIGN: &[ShapeMember] = &[
    ShapeMember::must("path_prefix", Like(|path| path.starts_with('/'), "a path that begins with a slash")),
    ShapeMember::may("bindings", MemberShape::List(&any(Open(BINDING)))),
];

const BINDING: &[ShapeMember] =
    &[ShapeMember::must("transport", NAME), ShapeMember::may("uri", URI), ShapeMember::may("framing", FREE)];

const NAME: MemberShape = Text(1, 16384);
const URI: MemberShape = Like(ids::is_uri, "a URI");

const fn some(of: MemberShape) -> List {
    List { of, min: 1, max: 1024, unique: false }
}

const fn any(of: MemberShape) -> List {
    List { of, min: 0, max: 1024, unique: false }
}

#[cfg(test)]
mod tests;
