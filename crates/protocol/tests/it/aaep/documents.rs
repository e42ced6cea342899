//! One valid document of every kind, with all optional members.

use serde_json::{Value, json};

pub(crate) const EVENTS: &[&str] = &[
    "agent.session.started",
    "agent.session.completed",
    "agent.session.errored",
    "agent.session.cancelled",
    "agent.state.changed",
    "agent.progress.updated",
    "agent.tool.invoked",
    "agent.tool.completed",
    "agent.output.streaming",
    "agent.awaiting.confirmation",
    "agent.awaiting.clarification",
    "agent.handoff.requested",
];

pub(crate) const CRITICAL: &[&str] = &[
    "agent.session.errored",
    "agent.awaiting.confirmation",
    "agent.awaiting.clarification",
    "agent.handoff.requested",
];

/// An event as emitted.
pub(crate) fn event(name: &str) -> Value {
    let mut event = envelope();
    event["type"] = json!(format!("aaep:{name}"));
    if CRITICAL.contains(&name) {
        event["urgency"] = json!("critical");
    }
    if name != "agent.output.streaming" {
        put(&mut event, summaries());
    }
    put(&mut event, payload(name));
    event
}

/// The event as published by an agent, without the members stamped by the hub.
pub(crate) fn ingest(name: &str) -> Value {
    let mut event = event(name);
    let stamped = ["event_id", "session_id", "timestamp", "producer", "aaep_version", "sequence_number", "reply_token"];
    event.as_object_mut().unwrap().retain(|member, _| !stamped.contains(&member.as_str()));
    event
}

pub(crate) fn with(mut document: Value, member: &str, value: Value) -> Value {
    document[member] = value;
    document
}

pub(crate) fn without(mut document: Value, member: &str) -> Value {
    document.as_object_mut().unwrap().remove(member).unwrap_or_else(|| panic!("no {member} to take away"));
    document
}

fn put(event: &mut Value, members: Value) {
    let Value::Object(members) = members else { panic!("not members") };
    event.as_object_mut().unwrap().extend(members);
}

fn envelope() -> Value {
    json!({
        "@context": ["https://aaep-protocol.org/context/v1", "https://shop.example/context/v1"],
        "event_id": "evt_0123456789abcdef0123456789abcdef",
        "session_id": "sess_0123456789abcdef0123456789abcdef",
        "timestamp": "2026-11-15T12:00:00.250Z",
        "producer": {
            "agent_id": "travel-desk",
            "agent_version": "2.1.0",
            "agent_name": "Travel desk",
            "model": "some-model",
            "manifest_uri": "https://hub.example/.well-known/aaep-manifest.json"
        },
        "aaep_version": "1.0.0",
        "sequence_number": 4,
        "verbosity": "normal",
        "urgency": "normal",
        "localization_hints": {
            "primary_language": "de-CH",
            "text_direction": "ltr",
            "available_languages": ["de-CH", "en"],
            "fallback_chain": ["de", "en"],
            "script": "Latn",
            "calendar": "gregory"
        },
        "correlation_id": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "extensions": { "org_shop_orders": { "order": 17 } }
    })
}

fn summaries() -> Value {
    json!({ "summary_terse": "Kurz", "summary_normal": "So ist es.", "summary_detailed": "So ist es ganz genau." })
}

fn payload(name: &str) -> Value {
    match name {
        "agent.session.started" => json!({ "expected_duration_ms": 30_000, "requested_by": "user:folake",
            "request_text": "Book a room", "tools_available": ["find_room", "book_room"] }),
        "agent.session.completed" => json!({ "duration_ms": 20_000, "tool_invocations_count": 2,
            "output_summary": "Booked.", "result_uri": "https://shop.example/orders/17" }),
        "agent.session.errored" => json!({ "error_category": "transient", "error_code": "TOOL_TIMEOUT",
            "error_uri": "https://shop.example/errors#timeout", "recoverable": true, "remediation_hint": "Try again." }),
        "agent.session.cancelled" => json!({ "cancelled_by": "user", "cancellation_reason": "changed_mind",
            "partial_result": "One room was found." }),
        "agent.state.changed" => json!({ "from_state": "idle", "to_state": "thinking", "expected_duration_ms": 900 }),
        "agent.progress.updated" => json!({ "eta_ms": 4000,
            "progress": { "percent": 12.5, "step": 1, "total_steps": 8, "description": "Looking" } }),
        "agent.tool.invoked" => json!({ "tool": "book_room", "description": "Books a room",
            "args_summary": "room: 12", "expected_duration_ms": 2000, "risk_level": "medium", "irreversible": true,
            "tool_call_id": "call_7a2b9c4e" }),
        "agent.tool.completed" => json!({ "tool": "book_room", "status": "error", "tool_call_id": "call_7a2b9c4e",
            "duration_ms": 1800, "error_message": "The room is taken." }),
        "agent.output.streaming" => json!({ "chunk": "Grüezi. ", "position": 0, "complete": false,
            "coalesce_hint": "sentence", "output_id": "out_3a8c2", "content_type": "text/plain", "language": "de-CH" }),
        "agent.awaiting.confirmation" => json!({ "action": "Pay 820 francs to the hotel.",
            "consequence": "The money cannot be called back.", "reply_token": "rpl_4f8a2e7d9c1b6a3f",
            "timeout_seconds": 300, "default_decision": "reject", "risk_level": "high", "irreversible": true,
            "reversibility": "irreversible", "allowed_replies": ["accept", "reject"],
            "extra_context": { "amount_raw": 82_000, "currency": "CHF" } }),
        "agent.awaiting.clarification" => json!({ "question": "Which floor?", "reply_token": "rpl_2c8e4a9f7b1d3a6e",
            "timeout_seconds": 120, "accepted_response_kinds": ["multiple_choice", "numeric"],
            "choices": [{ "value": "1", "label": "First" }, { "value": "2", "label": "Second" }],
            "context": "Both are quiet.", "default_response": "1" }),
        "agent.handoff.requested" => json!({ "reason": "The tariff is not in my books.", "target_kind": "human",
            "target_uri": "queue://desk/tariffs", "packaged_context": { "asked": "tariff" },
            "urgency_for_handoff": "medium" }),
        other => panic!("no event {other}"),
    }
}

pub(crate) const MESSAGES: &[&str] = &[
    "subscription.request",
    "subscription.accepted",
    "subscription.rejected",
    "subscription.renegotiate",
    "subscription.close",
    "confirmation.reply",
    "clarification.reply",
    "producer.manifest",
];

pub(crate) fn message(name: &str) -> Value {
    let mut message = match name {
        "subscription.request" => json!({ "aaep_version": "1.0.0", "subscriber_id": "reader", "subscriber_name": "R",
            "subscriber_version": "3", "subscriber_manifest_uri": "https://reader.example/manifest.json",
            "correlation_id": "x", "capabilities": capabilities(), "extensions": { "org_reader": {} } }),
        "subscription.accepted" => json!({ "subscription_id": "sub_12", "aaep_version": "1.0.0",
            "producer": envelope()["producer"], "honored_capabilities": capabilities(),
            "manifest_uri": "https://hub.example/.well-known/aaep-manifest.json",
            "signed_manifest": "aGVhZA.Ym9keQ.c2ln", "negotiation_notes": "No Yoruba here." }),
        "subscription.rejected" => json!({ "reason_code": "rate_limit", "reason_message": "Too many of them.",
            "retry_after_seconds": 60, "alternative_manifest_uri": "https://other.example/manifest.json" }),
        "subscription.renegotiate" => json!({ "subscription_id": "sub_12", "capabilities": capabilities() }),
        "subscription.close" => {
            json!({ "subscription_id": "sub_12", "reason_code": "user_left", "reason_message": "Good night." })
        }
        "confirmation.reply" => json!({ "reply_token": "rpl_4f8a", "decision": "reject", "subscription_id": "sub_12",
            "timestamp": "2026-11-15T12:00:10.000Z", "decided_by": "user:folake", "decision_rationale": "Too dear.",
            "modified_action": { "amount": 400 }, "correlation_id": "x" }),
        "clarification.reply" => json!({ "reply_token": "rpl_2c8e", "response": "2", "subscription_id": "sub_12",
            "timestamp": "2026-11-15T12:00:10.000Z", "decided_by": "user:folake", "confidence": 0.5,
            "correlation_id": "x" }),
        "producer.manifest" => manifest(),
        other => panic!("no message {other}"),
    };
    let prefix = if name == "producer.manifest" { "aaep:" } else { "" };
    message["type"] = json!(format!("{prefix}{name}"));
    message
}

fn capabilities() -> Value {
    json!({
        "max_events_per_second": 5,
        "preferred_verbosity": "terse",
        "languages": ["de-CH", "en"],
        "supports_confirmation_reply": true,
        "supports_clarification_reply": false,
        "coalesce_boundaries": ["sentence", "completion"],
        "event_filters": { "include": ["aaep:agent.*"], "exclude": ["aaep:agent.progress.updated"] },
        "supported_conformance_levels": [1, 2, 3],
        "supported_extensions": ["https://shop.example/context/v1"],
        "cognitive_load": "low",
        "pace_wpm": 180,
        "accept_signed_manifests_only": false,
        "org_reader": { "pitch": 3 }
    })
}

fn manifest() -> Value {
    json!({
        "@context": ["https://aaep-protocol.org/context/v1", "https://countersign.dev/context/aaep/v1"],
        "agent_id": "countersign",
        "agent_version": "0.1.0",
        "agent_name": "Countersign",
        "aaep_versions_supported": ["1.0.0"],
        "conformance_levels_supported": [1, 2, 3],
        "transports_supported": ["sse", "websocket"],
        "languages_supported": ["en", "de"],
        "event_types_emitted": ["aaep:agent.*"],
        "extensions_supported": ["https://countersign.dev/context/aaep/v1"],
        "default_verbosity": "normal",
        "max_concurrent_subscriptions": 1000,
        "contact": "mailto:desk@hub.example",
        "dev_countersign": {
            "path_prefix": "/aaep/v1",
            "bindings": [{ "transport": "sse", "uri": "https://hub.example/aaep/v1/events", "framing": "lines" }]
        }
    })
}
