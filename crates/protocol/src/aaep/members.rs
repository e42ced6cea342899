//! The members of every document, one row each (AAEP 3.2, 3.3, 4, 6.3, 6.5).

use super::{
    ids,
    shape::{
        FREE, List, MAX_INTEGER, Member,
        Shape::{Closed, Context, Flag, Integer, Like, Number, Object, Objects, OneOf, Response, Text},
    },
};

type Shape = super::shape::Shape;

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

pub(super) const ENVELOPE: &[Member] = &[
    Member::emitted("@context", Context),
    Member::must("type", FREE),
    Member::emitted("event_id", Like(ids::is_event_id, "evt_ and 1 to 64 letters and digits")),
    Member::emitted("session_id", Like(ids::is_session_id, "sess_ and 1 to 64 letters and digits")),
    Member::emitted("timestamp", Like(is_timestamp, "an RFC 3339 date-time with 0, 3 or 6 digits of fraction")),
    Member::emitted("producer", Closed(PRODUCER)),
    Member::may("aaep_version", Like(ids::is_version, "a version such as 1.0.0")),
    Member::may("sequence_number", Integer(0, MAX_INTEGER)),
    Member::may("verbosity", OneOf(&["terse", "normal", "detailed"])),
    Member::emitted("urgency", OneOf(&["background", "normal", "critical"])),
    Member::emitted("localization_hints", Closed(HINTS)),
    Member::may("correlation_id", FREE),
    Member::may("extensions", Objects),
];

pub(super) const PRODUCER: &[Member] = &[
    Member::must("agent_id", LONG),
    Member::may("agent_version", FREE),
    Member::may("agent_name", FREE),
    Member::may("model", FREE),
    Member::may("manifest_uri", URI),
];

const HINTS: &[Member] = &[
    Member::emitted("primary_language", LANGUAGE),
    Member::may("text_direction", OneOf(&["ltr", "rtl", "auto"])),
    Member::may("available_languages", Shape::List(&List { of: LANGUAGE, min: 0, max: 32, unique: true })),
    Member::may("fallback_chain", Shape::List(&List { of: LANGUAGE, min: 0, max: 16, unique: false })),
    Member::may("script", Like(is_script, "the four letters of a script, such as Latn")),
    Member::may("calendar", FREE),
];

/// The payload of a type in compact form; none for an unknown type.
pub(super) fn payload(type_name: &str) -> Option<&'static [Member]> {
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

const TERSE: Member = Member::may("summary_terse", SHORT);
const NORMAL: Member = Member::may("summary_normal", LONG);
const NORMAL_REQUIRED: Member = Member::must("summary_normal", LONG);
const DETAILED: Member = Member::may("summary_detailed", LONG);

const SESSION_STARTED: &[Member] = &[
    TERSE,
    NORMAL_REQUIRED,
    DETAILED,
    Member::may("expected_duration_ms", MILLIS),
    Member::may("requested_by", Text(1, 256)),
    Member::may("request_text", FREE),
    Member::may("tools_available", Shape::List(&List { of: Text(1, 256), min: 0, max: 256, unique: true })),
];

const SESSION_COMPLETED: &[Member] = &[
    TERSE,
    NORMAL_REQUIRED,
    DETAILED,
    Member::may("duration_ms", MILLIS),
    Member::may("tool_invocations_count", Integer(0, MAX_INTEGER)),
    Member::may("output_summary", FREE),
    Member::may("result_uri", URI),
];

const SESSION_ERRORED: &[Member] = &[
    TERSE,
    NORMAL_REQUIRED,
    DETAILED,
    Member::must("error_category", OneOf(&["transient", "permanent", "requires_user", "unknown"])),
    Member::may("error_code", Like(is_error_code, "2 to 64 capitals, digits and _, beginning with a capital")),
    Member::may("error_uri", URI),
    Member::may("recoverable", Flag),
    Member::may("remediation_hint", SHORT),
];

const SESSION_CANCELLED: &[Member] = &[
    TERSE,
    NORMAL_REQUIRED,
    DETAILED,
    Member::must("cancelled_by", OneOf(&["user", "producer", "timeout", "system"])),
    Member::may(
        "cancellation_reason",
        Like(is_reason, "2 to 64 small letters, digits and _, beginning with a small letter"),
    ),
    Member::may("partial_result", FREE),
];

const STATE_CHANGED: &[Member] = &[
    TERSE,
    NORMAL,
    DETAILED,
    Member::must("from_state", Text(1, 64)),
    Member::must("to_state", Text(1, 64)),
    Member::may("expected_duration_ms", MILLIS),
];

const PROGRESS_UPDATED: &[Member] =
    &[TERSE, NORMAL, DETAILED, Member::must("progress", Closed(PROGRESS)), Member::may("eta_ms", MILLIS)];

const PROGRESS: &[Member] = &[
    Member::may("percent", Number(0.0, 100.0)),
    Member::may("step", Integer(1, MAX_INTEGER)),
    Member::may("total_steps", Integer(1, MAX_INTEGER)),
    Member::may("description", SHORT),
];

const TOOL_INVOKED: &[Member] = &[
    TERSE,
    NORMAL_REQUIRED,
    DETAILED,
    Member::must("tool", TOOL),
    Member::may("description", SHORT),
    Member::may("args_summary", FREE),
    Member::may("expected_duration_ms", MILLIS),
    Member::may("risk_level", RISK),
    Member::may("irreversible", Flag),
    Member::may("tool_call_id", CALL_ID),
];

const TOOL_COMPLETED: &[Member] = &[
    TERSE,
    NORMAL,
    DETAILED,
    Member::must("tool", TOOL),
    Member::must("status", OneOf(&["success", "error", "timeout"])),
    Member::may("tool_call_id", CALL_ID),
    Member::may("duration_ms", MILLIS),
    Member::may("error_message", SHORT),
];

const OUTPUT_STREAMING: &[Member] = &[
    Member::must("chunk", FREE),
    Member::must("position", Integer(0, MAX_INTEGER)),
    Member::must("complete", Flag),
    Member::may("coalesce_hint", OneOf(&["none", "word", "sentence", "paragraph", "completion"])),
    Member::may("output_id", Like(ids::is_output_id, "out_ and 1 to 64 letters and digits")),
    Member::may("content_type", Like(is_content_type, "a media type such as text/plain")),
    Member::may("language", LANGUAGE),
];

const AWAITING_CONFIRMATION: &[Member] = &[
    TERSE,
    NORMAL,
    DETAILED,
    Member::must("action", LONG),
    Member::must("consequence", LONG),
    Member::emitted("reply_token", REPLY_TOKEN),
    Member::must("timeout_seconds", TIMEOUT),
    Member::must("default_decision", OneOf(&["accept", "reject"])),
    Member::may("risk_level", RISK),
    Member::may("irreversible", Flag),
    Member::may("reversibility", OneOf(&["reversible", "reversible_with_effort", "irreversible"])),
    // Other values would need a negotiated extension, and no reply could carry them (C21).
    Member::may(
        "allowed_replies",
        Shape::List(&List { of: OneOf(&["accept", "reject"]), min: 1, max: 32, unique: true }),
    ),
    Member::may("extra_context", Object),
];

const AWAITING_CLARIFICATION: &[Member] = &[
    TERSE,
    NORMAL,
    DETAILED,
    Member::must("question", LONG),
    Member::emitted("reply_token", REPLY_TOKEN),
    Member::must("timeout_seconds", TIMEOUT),
    Member::may("accepted_response_kinds", Shape::List(&List { of: KIND, min: 1, max: 4, unique: true })),
    Member::may("choices", Shape::List(&List { of: Closed(CHOICE), min: 2, max: 32, unique: true })),
    Member::may("context", SHORT),
    Member::may("default_response", Text(0, 4096)),
];

const KIND: Shape = OneOf(&["freetext", "yes_no", "multiple_choice", "numeric"]);
const CHOICE: &[Member] = &[Member::must("value", Text(1, 256)), Member::must("label", Text(1, 1024))];

const HANDOFF_REQUESTED: &[Member] = &[
    TERSE,
    NORMAL,
    DETAILED,
    Member::must("reason", LONG),
    Member::must("target_kind", OneOf(&["human", "specialist_agent", "escalation_queue"])),
    Member::may("target_uri", URI),
    Member::may("packaged_context", Object),
    Member::may("urgency_for_handoff", RISK),
];

pub(super) const CONFIRMATION_REPLY: &[Member] = &[
    Member::must("type", OneOf(&["confirmation.reply"])),
    Member::must("reply_token", REPLY_TOKEN),
    Member::must("decision", OneOf(&["accept", "reject"])),
    Member::must("subscription_id", SUBSCRIPTION_ID),
    Member::must("timestamp", DECIDED_AT),
    Member::may("decided_by", Text(1, 256)),
    Member::may("decision_rationale", SHORT),
    Member::may("modified_action", Object),
    Member::may("correlation_id", FREE),
];

pub(super) const CLARIFICATION_REPLY: &[Member] = &[
    Member::must("type", OneOf(&["clarification.reply"])),
    Member::must("reply_token", REPLY_TOKEN),
    Member::must("response", Response),
    Member::must("subscription_id", SUBSCRIPTION_ID),
    Member::must("timestamp", DECIDED_AT),
    Member::may("decided_by", Text(1, 256)),
    Member::may("confidence", Number(0.0, 1.0)),
    Member::may("correlation_id", FREE),
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
