//! The members of every document, one row each (AAEP 3.2, 3.3, 4, 6.3, 6.5).

use super::{
    ids,
    shape::{
        FREE, List, MAX_INTEGER,
        MemberShape::{Closed, Context, Flag, Integer, Like, Number, Object, Objects, OneOf, Response, Text},
        ShapeMember,
    },
};

type Shape = super::shape::MemberShape;

const LONG: Shape = Text(1, 16384);
const SHORT: Shape = Text(1, 4096);
const MILLIS: Shape = Integer(0, 86_400_000);
const TIMEOUT: Shape = Integer(1, 86_400);
const RISK: Shape = OneOf(&["low", "medium", "high"]);
const URI: Shape = Like(ids::is_uri, "a URI");
const LANGUAGE: Shape = Like(ids::is_language_tag, "a language tag");
const REPLY_TOKEN: Shape = Like(ids::is_reply_token, "rpl_ and 1 to 64 letters and digits");
const CALL_ID: Shape = Like(ids::is_call_id, "call_ and 1 to 64 letters and digits");
const SUBSCRIPTION_ID: Shape = Like(ids::is_subscription_id, "sub_ and 1 to 64 letters and digits");
const TOOL: Shape = Like(is_tool, "a tool's name: at most 256 letters, digits, and _ . - after the first");

pub(super) const ENVELOPE: &[ShapeMember] = &[
    ShapeMember::emitted("@context", Context),
    ShapeMember::must("type", FREE),
    ShapeMember::emitted("event_id", Like(ids::is_event_id, "evt_ and 1 to 64 letters and digits")),
    ShapeMember::emitted("session_id", Like(ids::is_session_id, "sess_ and 1 to 64 letters and digits")),
    ShapeMember::emitted("timestamp", Like(is_timestamp, "an RFC 3339 date-time with 0, 3 or 6 digits of fraction")),
    ShapeMember::emitted("producer", Closed(PRODUCER)),
    ShapeMember::may("aaep_version", Like(ids::is_version, "a version such as 1.0.0")),
    ShapeMember::may("sequence_number", Integer(0, MAX_INTEGER)),
    ShapeMember::may("verbosity", OneOf(&["terse", "normal", "detailed"])),
    ShapeMember::emitted("urgency", OneOf(&["background", "normal", "critical"])),
    ShapeMember::emitted("localization_hints", Closed(HINTS)),
    ShapeMember::may("correlation_id", FREE),
    ShapeMember::may("extensions", Objects),
];

pub(super) const PRODUCER: &[ShapeMember] = &[
    ShapeMember::must("agent_id", LONG),
    ShapeMember::may("agent_version", FREE),
    ShapeMember::may("agent_name", FREE),
    ShapeMember::may("model", FREE),
    ShapeMember::may("manifest_uri", URI),
];

const HINTS: &[ShapeMember] = &[
    ShapeMember::emitted("primary_language", LANGUAGE),
    ShapeMember::may("text_direction", OneOf(&["ltr", "rtl", "auto"])),
    ShapeMember::may("available_languages", Shape::List(&List { of: LANGUAGE, min: 0, max: 32, unique: true })),
    ShapeMember::may("fallback_chain", Shape::List(&List { of: LANGUAGE, min: 0, max: 16, unique: false })),
    ShapeMember::may("script", Like(is_script, "the four letters of a script, such as Latn")),
    ShapeMember::may("calendar", FREE),
];

/// The payload of a type in compact form; none for an unknown type.
pub(super) fn payload(type_name: &str) -> Option<&'static [ShapeMember]> {
    Some(match type_name.strip_prefix("aaep:agent.")? {
        "session.started" => SESSION_STARTED,
        "session.completed" => SESSION_COMPLETED,
        "session.errored" => SESSION_ERRORED,
        "session.cancelled" => SESSION_CANCELLED,
        "state.changed" => STATE_CHANGED,
        "progress.updated" => PROGRESS_UPDATED,
        "tool.invoked" => TOOL_INVOKED,
        "tool.completed" => TOOL_COMPLETED,
        "output.streaming" => OUTPUT_STREAMING,
        "awaiting.confirmation" => AWAITING_CONFIRMATION,
        "awaiting.clarification" => AWAITING_CLARIFICATION,
        "handoff.requested" => HANDOFF_REQUESTED,
        _ => return None,
    })
}

const TERSE: ShapeMember = ShapeMember::may("summary_terse", SHORT);
const NORMAL: ShapeMember = ShapeMember::may("summary_normal", LONG);
const NORMAL_REQUIRED: ShapeMember = ShapeMember::must("summary_normal", LONG);
const DETAILED: ShapeMember = ShapeMember::may("summary_detailed", LONG);

const SESSION_STARTED: &[ShapeMember] = &[
    TERSE,
    NORMAL_REQUIRED,
    DETAILED,
    ShapeMember::may("expected_duration_ms", MILLIS),
    ShapeMember::may("requested_by", Text(1, 256)),
    ShapeMember::may("request_text", FREE),
    ShapeMember::may("tools_available", Shape::List(&List { of: Text(1, 256), min: 0, max: 256, unique: true })),
];

const SESSION_COMPLETED: &[ShapeMember] = &[
    TERSE,
    NORMAL_REQUIRED,
    DETAILED,
    ShapeMember::may("duration_ms", MILLIS),
    ShapeMember::may("tool_invocations_count", Integer(0, MAX_INTEGER)),
    ShapeMember::may("output_summary", FREE),
    ShapeMember::may("result_uri", URI),
];

const SESSION_ERRORED: &[ShapeMember] = &[
    TERSE,
    NORMAL_REQUIRED,
    DETAILED,
    ShapeMember::must("error_category", OneOf(&["transient", "permanent", "requires_user", "unknown"])),
    ShapeMember::may("error_code", Like(is_error_code, "2 to 64 capitals, digits and _, beginning with a capital")),
    ShapeMember::may("error_uri", URI),
    ShapeMember::may("recoverable", Flag),
    ShapeMember::may("remediation_hint", SHORT),
];

const SESSION_CANCELLED: &[ShapeMember] = &[
    TERSE,
    NORMAL_REQUIRED,
    DETAILED,
    ShapeMember::must("cancelled_by", OneOf(&["user", "producer", "timeout", "system"])),
    ShapeMember::may(
        "cancellation_reason",
        Like(is_reason, "2 to 64 small letters, digits and _, beginning with a small letter"),
    ),
    ShapeMember::may("partial_result", FREE),
];

const STATE_CHANGED: &[ShapeMember] = &[
    TERSE,
    NORMAL,
    DETAILED,
    ShapeMember::must("from_state", Text(1, 64)),
    ShapeMember::must("to_state", Text(1, 64)),
    ShapeMember::may("expected_duration_ms", MILLIS),
];

const PROGRESS_UPDATED: &[ShapeMember] =
    &[TERSE, NORMAL, DETAILED, ShapeMember::must("progress", Closed(PROGRESS)), ShapeMember::may("eta_ms", MILLIS)];

const PROGRESS: &[ShapeMember] = &[
    ShapeMember::may("percent", Number(0.0, 100.0)),
    ShapeMember::may("step", Integer(1, MAX_INTEGER)),
    ShapeMember::may("total_steps", Integer(1, MAX_INTEGER)),
    ShapeMember::may("description", SHORT),
];

const TOOL_INVOKED: &[ShapeMember] = &[
    TERSE,
    NORMAL_REQUIRED,
    DETAILED,
    ShapeMember::must("tool", TOOL),
    ShapeMember::may("description", SHORT),
    ShapeMember::may("args_summary", FREE),
    ShapeMember::may("expected_duration_ms", MILLIS),
    ShapeMember::may("risk_level", RISK),
    ShapeMember::may("irreversible", Flag),
    ShapeMember::may("tool_call_id", CALL_ID),
];

const TOOL_COMPLETED: &[ShapeMember] = &[
    TERSE,
    NORMAL,
    DETAILED,
    ShapeMember::must("tool", TOOL),
    ShapeMember::must("status", OneOf(&["success", "error", "timeout"])),
    ShapeMember::may("tool_call_id", CALL_ID),
    ShapeMember::may("duration_ms", MILLIS),
    ShapeMember::may("error_message", SHORT),
];

const OUTPUT_STREAMING: &[ShapeMember] = &[
    ShapeMember::must("chunk", FREE),
    ShapeMember::must("position", Integer(0, MAX_INTEGER)),
    ShapeMember::must("complete", Flag),
    ShapeMember::may("coalesce_hint", OneOf(&["none", "word", "sentence", "paragraph", "completion"])),
    ShapeMember::may("output_id", Like(ids::is_output_id, "out_ and 1 to 64 letters and digits")),
    ShapeMember::may("content_type", Like(is_content_type, "a media type such as text/plain")),
    ShapeMember::may("language", LANGUAGE),
];

const AWAITING_CONFIRMATION: &[ShapeMember] = &[
    TERSE,
    NORMAL,
    DETAILED,
    ShapeMember::must("action", LONG),
    ShapeMember::must("consequence", LONG),
    ShapeMember::emitted("reply_token", REPLY_TOKEN),
    ShapeMember::must("timeout_seconds", TIMEOUT),
    ShapeMember::must("default_decision", OneOf(&["accept", "reject"])),
    ShapeMember::may("risk_level", RISK),
    ShapeMember::may("irreversible", Flag),
    ShapeMember::may("reversibility", OneOf(&["reversible", "reversible_with_effort", "irreversible"])),
    // Other values would need a negotiated extension, and no reply could carry them (C21).
    ShapeMember::may(
        "allowed_replies",
        Shape::List(&List { of: OneOf(&["accept", "reject"]), min: 1, max: 32, unique: true }),
    ),
    ShapeMember::may("extra_context", Object),
];

const AWAITING_CLARIFICATION: &[ShapeMember] = &[
    TERSE,
    NORMAL,
    DETAILED,
    ShapeMember::must("question", LONG),
    ShapeMember::emitted("reply_token", REPLY_TOKEN),
    ShapeMember::must("timeout_seconds", TIMEOUT),
    ShapeMember::may("accepted_response_kinds", Shape::List(&List { of: KIND, min: 1, max: 4, unique: true })),
    ShapeMember::may("choices", Shape::List(&List { of: Closed(CHOICE), min: 2, max: 32, unique: true })),
    ShapeMember::may("context", SHORT),
    ShapeMember::may("default_response", Text(0, 4096)),
];

const KIND: Shape = OneOf(&["freetext", "yes_no", "multiple_choice", "numeric"]);
const CHOICE: &[ShapeMember] = &[ShapeMember::must("value", Text(1, 256)), ShapeMember::must("label", Text(1, 1024))];

const HANDOFF_REQUESTED: &[ShapeMember] = &[
    TERSE,
    NORMAL,
    DETAILED,
    ShapeMember::must("reason", LONG),
    ShapeMember::must("target_kind", OneOf(&["human", "specialist_agent", "escalation_queue"])),
    ShapeMember::may("target_uri", URI),
    ShapeMember::may("packaged_context", Object),
    ShapeMember::may("urgency_for_handoff", RISK),
];

pub(super) const CONFIRMATION_REPLY: &[ShapeMember] = &[
    ShapeMember::must("type", OneOf(&["confirmation.reply"])),
    ShapeMember::must("reply_token", REPLY_TOKEN),
    ShapeMember::must("decision", OneOf(&["accept", "reject"])),
    ShapeMember::must("subscription_id", SUBSCRIPTION_ID),
    ShapeMember::must("timestamp", DECIDED_AT),
    ShapeMember::may("decided_by", Text(1, 256)),
    ShapeMember::may("decision_rationale", SHORT),
    ShapeMember::may("modified_action", Object),
    ShapeMember::may("correlation_id", FREE),
];

pub(super) const CLARIFICATION_REPLY: &[ShapeMember] = &[
    ShapeMember::must("type", OneOf(&["clarification.reply"])),
    ShapeMember::must("reply_token", REPLY_TOKEN),
    ShapeMember::must("response", Response),
    ShapeMember::must("subscription_id", SUBSCRIPTION_ID),
    ShapeMember::must("timestamp", DECIDED_AT),
    ShapeMember::may("decided_by", Text(1, 256)),
    ShapeMember::may("confidence", Number(0.0, 1.0)),
    ShapeMember::may("correlation_id", FREE),
];

const DECIDED_AT: Shape = Like(|text| ids::parse_date_time(text).is_some(), "an RFC 3339 date-time");

fn is_timestamp(text: &str) -> bool {
    ids::parse_timestamp(text).is_some()
}

fn is_tool(text: &str) -> bool {
    text.len() <= 256 && starts_and_goes_on(text, |b| b.is_ascii_alphabetic() || b == b'_', |b| b"_.-".contains(&b))
}

fn is_error_code(text: &str) -> bool {
    (2..=64).contains(&text.len())
        && text.starts_with(|c: char| c.is_ascii_uppercase())
        && text.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}

fn is_reason(text: &str) -> bool {
    (2..=64).contains(&text.len())
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

fn is_content_type(text: &str) -> bool {
    let part = |part: &str| starts_and_goes_on(part, |b| b.is_ascii_alphabetic(), |b| b".+_-".contains(&b));
    text.split_once('/').is_some_and(|(kind, form)| part(kind) && part(form))
}

fn is_script(text: &str) -> bool {
    text.len() == 4
        && text.starts_with(|c: char| c.is_ascii_uppercase())
        && text.bytes().skip(1).all(|b| b.is_ascii_lowercase())
}

fn starts_and_goes_on(text: &str, first: fn(u8) -> bool, also: fn(u8) -> bool) -> bool {
    text.bytes().next().is_some_and(first) && text.bytes().all(|b| b.is_ascii_alphanumeric() || first(b) || also(b))
}
