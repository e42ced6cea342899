//! The members of the handshake's messages, one row each, and the reader of such tables.

use crate::aaep::{
    ids,
    members::PRODUCER,
    shape::{
        FREE, List,
        MemberShape::{self, Closed, Flag, Integer, Like, Object, Objects, OneOf, Text},
        ShapeMember, Stage, check,
    },
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

const URI: MemberShape = Like(ids::is_uri, "a URI");
const VERSION: MemberShape = Like(ids::is_version, "a version such as 1.0.0");
const SUBSCRIPTION_ID: MemberShape = Like(ids::is_subscription_id, "sub_ and 1 to 64 letters and digits");

pub(super) const REQUEST: &[ShapeMember] = &[
    ShapeMember::must("type", OneOf(&["subscription.request"])),
    ShapeMember::must("aaep_version", VERSION),
    ShapeMember::must("subscriber_id", Text(1, 256)),
    ShapeMember::must("capabilities", Object),
    ShapeMember::may("subscriber_name", Text(0, 256)),
    ShapeMember::may("subscriber_version", Text(0, 64)),
    ShapeMember::may("subscriber_manifest_uri", URI),
    ShapeMember::may("correlation_id", FREE),
    ShapeMember::may("extensions", Objects),
];

pub(super) const ACCEPTED: &[ShapeMember] = &[
    ShapeMember::must("type", OneOf(&["subscription.accepted"])),
    ShapeMember::must("subscription_id", SUBSCRIPTION_ID),
    ShapeMember::must("aaep_version", VERSION),
    ShapeMember::must("producer", Closed(PRODUCER)),
    ShapeMember::must("honored_capabilities", Object),
    ShapeMember::may("manifest_uri", URI),
    ShapeMember::may("signed_manifest", Like(is_compact_jws, "a JWS in compact form")),
    ShapeMember::may("negotiation_notes", Text(0, 4096)),
];

pub(super) const REJECTED: &[ShapeMember] = &[
    ShapeMember::must("type", OneOf(&["subscription.rejected"])),
    ShapeMember::must("reason_code", OneOf(REASONS)),
    ShapeMember::must("reason_message", Text(1, 4096)),
    ShapeMember::may("retry_after_seconds", Integer(0, 86_400)),
    ShapeMember::may("alternative_manifest_uri", URI),
];

const REASONS: &[&str] = &[
    "version_unsupported",
    "manifest_signature_required",
    "capabilities_incompatible",
    "rate_limit",
    "authentication_required",
    "authorization_denied",
    "transport_unavailable",
    "unknown",
];

pub(super) const RENEGOTIATE: &[ShapeMember] = &[
    ShapeMember::must("type", OneOf(&["subscription.renegotiate"])),
    ShapeMember::must("subscription_id", SUBSCRIPTION_ID),
    ShapeMember::must("capabilities", Object),
];

pub(super) const CLOSE: &[ShapeMember] = &[
    ShapeMember::must("type", OneOf(&["subscription.close"])),
    ShapeMember::must("subscription_id", SUBSCRIPTION_ID),
    ShapeMember::may("reason_code", Text(1, 256)),
    ShapeMember::may("reason_message", Text(0, 4096)),
];

pub(super) const CAPABILITIES: &[ShapeMember] = &[
    ShapeMember::may("max_events_per_second", Integer(1, 100_000)),
    ShapeMember::may("preferred_verbosity", OneOf(&["terse", "normal", "detailed"])),
    ShapeMember::may("languages", MemberShape::List(&List { of: LANGUAGE, min: 1, max: 32, unique: true })),
    ShapeMember::may("supports_confirmation_reply", Flag),
    ShapeMember::may("supports_clarification_reply", Flag),
    ShapeMember::may("coalesce_boundaries", MemberShape::List(&List { of: BOUNDARY, min: 1, max: 5, unique: true })),
    ShapeMember::may("event_filters", Closed(FILTERS)),
    ShapeMember::may(
        "supported_conformance_levels",
        MemberShape::List(&List { of: LEVEL, min: 1, max: 3, unique: true }),
    ),
    ShapeMember::may("supported_extensions", MemberShape::List(&List { of: URI, min: 0, max: 64, unique: true })),
    ShapeMember::may("cognitive_load", OneOf(&["low", "medium", "high"])),
    ShapeMember::may("pace_wpm", Integer(50, 1000)),
    ShapeMember::may("accept_signed_manifests_only", Flag),
];

const LANGUAGE: MemberShape = Like(ids::is_language_tag, "a language tag");
const BOUNDARY: MemberShape = OneOf(&["none", "word", "sentence", "paragraph", "completion"]);
const LEVEL: MemberShape = Integer(1, 3);

const FILTERS: &[ShapeMember] = &[ShapeMember::may("include", PATTERNS), ShapeMember::may("exclude", PATTERNS)];

/// The protocol does not limit their number; there are twelve types, and every event is matched against every pattern.
const PATTERNS: MemberShape = MemberShape::List(&List { of: Text(1, 256), min: 0, max: 256, unique: true });

/// The object, if it has all required members and no unknown ones.
pub(super) fn closed<'v>(value: &'v Value, members: &[ShapeMember]) -> Result<&'v Map<String, Value>, String> {
    let object = value.as_object().ok_or("the message must be an object")?;
    known(object, members)?;
    if object.keys().any(|name| members.iter().all(|member| member.name != name)) {
        return Err("the message has a member that is not known there".into());
    }
    Ok(object)
}

/// Checks the known members and ignores all others.
pub(super) fn known(object: &Map<String, Value>, members: &[ShapeMember]) -> Result<(), String> {
    let mut found = Vec::new();
    check(members, object, Stage::Emitted, &mut found);
    let told: Vec<String> = found.iter().map(ToString::to_string).collect();
    if told.is_empty() { Ok(()) } else { Err(told.join("; ")) }
}

/// Deserialises a checked object. The caller reads the members in `apart`.
pub(super) fn typed<T: DeserializeOwned>(
    object: &Map<String, Value>,
    members: &[ShapeMember],
    apart: &[&str],
) -> Result<T, String> {
    let mut object = object.clone();
    for name in apart {
        object.insert((*name).to_owned(), Value::Object(Map::new()));
    }
    for member in members {
        object.get_mut(member.name).into_iter().for_each(|value| member.shape.whole(value));
    }
    serde_json::from_value(Value::Object(object)).map_err(|_| "the message is not readable".to_owned())
}

fn is_compact_jws(text: &str) -> bool {
    let part = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    text.split('.').count() == 3 && text.split('.').all(part)
}
