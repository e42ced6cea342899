//! Rules for events of every type.

use super::documents::{CRITICAL, EVENTS, event, ingest, with, without};
use crate::judge;
use countersign_protocol::aaep::{
    check::{self, MemberProblem},
    event::Payload,
    ingest::published,
};
use serde_json::{Map, Value, json};

/// A type without additional rules.
const PLAIN: &str = "agent.state.changed";

#[track_caller]
fn told(document: &Value) -> Vec<String> {
    published(document).unwrap_err().iter().map(MemberProblem::to_string).collect()
}

#[test]
fn a_message_that_is_no_event_is_an_error() {
    assert_eq!(told(&json!([])), ["event: must be an object"]);
    assert_eq!(told(&json!({})), ["type: is required", "type: must be one of the twelve core types"]);
    assert_eq!(
        told(&with(ingest(PLAIN), "type", json!("shop:order.paid"))),
        ["type: must be one of the twelve core types"]
    );
}

#[test]
fn every_error_is_reported_at_once() {
    let found = told(&with(with(ingest(PLAIN), "from_state", json!("")), "verbosity", json!("loud")));
    assert_eq!(
        found,
        ["verbosity: must be one of terse, normal, detailed", "from_state: must be a text of 1 to 64 characters"]
    );
}

/// AAEP-SCHEMA-05: an agent's values for members stamped by the hub are validated and then dropped.
#[test]
fn members_stamped_by_the_hub_are_refused_at_ingest() {
    for name in EVENTS {
        let (mut full, bare) = (published(&event(name)).unwrap(), published(&ingest(name)).unwrap());
        // The agent's event id is used only to detect repeated events.
        full.sent = None;
        assert_eq!(full, bare, "{name}");
        let payload = serde_json::to_value(&full.payload).unwrap();
        for stamped in ["event_id", "session_id", "timestamp", "producer", "aaep_version", "sequence_number"] {
            assert!(payload.get(stamped).is_none(), "{name} lets {stamped} through");
        }
        assert!(payload.get("reply_token").is_none_or(|token| token == ""), "{name} lets its token through");
    }
    for (member, wrong) in [
        ("event_id", json!("not-following-the-pattern")),
        ("session_id", json!("evt_1")),
        ("timestamp", json!("2026-11-15T12:00:00.1Z")),
        ("producer", json!({ "agent_id": "a", "rank": 1 })),
        ("aaep_version", json!("one")),
        ("sequence_number", json!(-1)),
        ("reply_token", json!("rpl_")),
    ] {
        let found = published(&with(ingest("agent.awaiting.confirmation"), member, wrong)).unwrap_err();
        assert!(found.iter().any(|problem| problem.member.starts_with(member)), "{member}: {found:?}");
    }
}

/// AAEP-SCHEMA-05, AAEP-SCHEMA-29
#[test]
fn the_judge_misses_every_required_member_of_an_emitted_event() {
    for name in EVENTS {
        judge::judge_event(&event(name));
        for member in ["@context", "event_id", "session_id", "timestamp", "producer", "urgency", "localization_hints"] {
            let event = without(event(name), member);
            assert!(check::event(&event).iter().any(|problem| problem.member == member), "{name} without {member}");
            assert!(!judge::problems(name, &event).is_empty(), "{name} without {member}");
        }
        let mute = with(event(name), "localization_hints", json!({ "text_direction": "ltr" }));
        assert_eq!(check::event(&mute)[0].to_string(), "localization_hints.primary_language: is required");
        assert!(published(&mute).is_ok(), "the hub knows the agent's language");
        assert!(!check::event(&with(event(name), "timestamp", json!("2026-11-15T12:00:00.1Z"))).is_empty());
    }
}

#[test]
fn the_four_critical_types_are_critical_and_the_others_choose() {
    for name in EVENTS {
        for urgency in ["background", "normal", "critical"] {
            let sound = urgency == "critical" || !CRITICAL.contains(name);
            assert_eq!(published(&with(ingest(name), "urgency", json!(urgency))).is_ok(), sound, "{name} {urgency}");
        }
        assert_eq!(published(&without(ingest(name), "urgency")).is_ok(), !CRITICAL.contains(name), "{name}");
    }
}

#[test]
fn timestamps_have_no_fraction_three_digits_or_six() {
    let verdict = |text: &str, sound: bool| {
        let event = with(event(PLAIN), "timestamp", json!(text));
        assert_eq!(check::event(&event).is_empty(), sound, "{text}");
        assert_eq!(judge::problems(PLAIN, &event).is_empty(), sound, "{text} by the schema");
    };
    for wrong in [
        "2026-11-15T12:00:00.1Z",
        "2026-11-15T12:00:00.12Z",
        "2026-11-15T12:00:00.1234Z",
        "2026-11-15T12:00:00.123456789Z",
        "2026-11-15T12:00:00.Z",
        "2026-11-15T12:00:00",
        "2026-11-15 12:00:00Z",
        "2026-11-15t12:00:00z",
        "2026-11-15T12:00Z",
        "2026-11-15T12:00:00+0200",
        "2026-11-15T12:00:00+02",
        "2026-11-15T24:00:00Z",
        "2026-13-15T12:00:00Z",
        "2026-02-29T12:00:00Z",
        "2026-11-15T12:00:00Z\n",
        " 2026-11-15T12:00:00Z",
        "2026-11-15T12:00:00+24:00",
        "2026-11-15T12:00:00+02:60",
        "+002026-11-15T12:00:00Z",
        "２026-11-15T12:00:00Z",
        "",
    ] {
        verdict(wrong, false);
    }
    for right in [
        "2026-11-15T12:00:00Z",
        "2026-11-15T12:00:00.000Z",
        "2026-11-15T12:00:00.123456Z",
        "2026-11-15T12:00:00+00:00",
        "2026-11-15T12:00:00.123-09:30",
        "2028-02-29T23:59:59.999+14:00",
    ] {
        verdict(right, true);
    }
}

#[test]
fn names_that_the_protocol_keeps_for_itself_are_refused() {
    for (name, why) in [
        ("aaep_level", "is a name that the protocol keeps for itself"),
        ("@id", "is a keyword that an event must not use"),
        ("@graph", "is a keyword that an event must not use"),
        ("@base", "is a keyword that an event must not use"),
        ("@vocab", "is a keyword that an event must not use"),
    ] {
        assert_eq!(told(&with(ingest(PLAIN), name, json!("x"))), [format!("{name}: {why}")]);
    }
    let secret = format!("ghp_{}", "a1".repeat(18));
    let found = told(&with(ingest(PLAIN), &secret, json!(1)));
    assert!(found.iter().all(|problem| !problem.contains(&secret)), "{found:?}");
}

#[test]
fn an_extension_is_declared_and_its_prefix_is_its_own() {
    let extended =
        |context: Value, extensions: Value| with(with(event(PLAIN), "@context", context), "extensions", extensions);
    let core = "https://aaep-protocol.org/context/v1";
    let ours = json!({ "org_shop": { "order": 17 } });
    for (context, extensions, sound) in [
        (json!(core), ours.clone(), false),
        (json!([core]), ours.clone(), false),
        (json!([core, core]), ours.clone(), false),
        (json!(["https://shop.example/v1", core]), ours.clone(), false),
        (json!(["https://shop.example/v1"]), json!({}), false),
        (json!([core, "not a uri"]), json!({}), false),
        (json!([]), json!({}), false),
        (json!([core, "https://shop.example/v1"]), json!({ "aaep": {} }), false),
        (json!([core, "https://shop.example/v1"]), json!({ "xsd": {} }), false),
        (json!([core, "https://shop.example/v1"]), json!({ "rdf": {} }), false),
        (json!([core, "https://shop.example/v1"]), json!({ "rdfs": {} }), false),
        (json!([core, "https://shop.example/v1"]), json!({ "@set": {} }), false),
        (json!([core, "https://shop.example/v1"]), json!({ "org_shop": 17 }), false),
        (json!([core, "https://shop.example/v1"]), ours.clone(), true),
        (json!(core), json!({}), true),
        (json!([core]), json!({}), true),
    ] {
        let event = extended(context, extensions);
        assert_eq!(published(&event).is_ok(), sound, "{event:#}");
        assert_eq!(check::event(&event).is_empty(), sound, "{event:#}");
        assert_eq!(judge::problems(PLAIN, &event).is_empty(), sound, "{event:#}");
    }
    let bare = without(with(ingest(PLAIN), "extensions", ours), "@context");
    assert_eq!(told(&bare), ["extensions: must be declared by an entry of @context after the core one"]);
}

#[test]
fn an_agents_envelope_members_are_kept() {
    let said = published(&ingest(PLAIN)).unwrap();
    assert_eq!(said.localization_hints.unwrap().primary_language.as_deref(), Some("de-CH"));
    assert_eq!(said.correlation_id.as_deref(), Some("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"));
    assert_eq!(said.extensions["org_shop_orders"]["order"], 17);
    assert_eq!(said.context, Some(ingest(PLAIN)["@context"].clone()));
    assert!(matches!(said.payload, Payload::StateChanged(changed) if changed.to_state == "thinking"));
}

#[test]
fn an_event_is_no_bigger_than_the_protocol_carries() {
    let of = |length: usize| json!({ "text": "x".repeat(length) });
    let grown = |event: Value, length: usize| {
        with(event, "extra_context", json!({ "a": of(length), "b": of(16000), "c": of(16000), "d": of(16000) }))
    };
    let whole = event("agent.awaiting.confirmation");
    let room = 65536 - grown(whole.clone(), 0).to_string().len();
    assert!(check::event(&grown(whole.clone(), room)).is_empty());
    assert_eq!(check::event(&grown(whole, room + 1))[0].to_string(), "event: must not be over 65536 bytes");
    // The limit for published events leaves room for the hub's members.
    let bare = ingest("agent.awaiting.confirmation");
    let room = 63488 - grown(bare.clone(), 0).to_string().len();
    assert!(published(&grown(bare.clone(), room)).is_ok());
    assert_eq!(told(&grown(bare, room + 1)), ["event: must not be over 63488 bytes"]);
}

#[test]
fn no_text_name_or_nesting_goes_beyond_the_limits() {
    let asked = |context: Value| published(&with(ingest("agent.awaiting.confirmation"), "extra_context", context));
    assert!(asked(json!({ "note": "x".repeat(16384) })).is_ok());
    assert!(asked(json!({ "note": "x".repeat(16385) })).is_err());
    assert!(asked(json!({ "x".repeat(16385): 1 })).is_err());
    let nested = |levels: usize| (1..levels).fold(json!({}), |inner, _| json!({ "in": inner }));
    assert!(asked(nested(8)).is_ok());
    assert!(asked(nested(9)).is_err());
    let members: Map<String, Value> = (0..26).map(|n| (format!("summary_normal_en-x{n}"), json!("x"))).collect();
    let mut crowded = ingest(PLAIN);
    crowded.as_object_mut().unwrap().extend(members);
    assert_eq!(told(&crowded), ["event: must not have over 32 members"]);
}

#[test]
fn a_credential_in_words_for_people_is_refused_without_being_repeated() {
    let secret = "sk-proj-abcdefghij0123456789";
    for (name, member) in [
        ("agent.tool.invoked", "args_summary"),
        ("agent.tool.invoked", "description"),
        ("agent.tool.invoked", "summary_terse"),
        ("agent.tool.completed", "error_message"),
        ("agent.output.streaming", "chunk"),
        ("agent.awaiting.confirmation", "action"),
        ("agent.awaiting.confirmation", "consequence"),
        ("agent.awaiting.confirmation", "summary_detailed"),
        ("agent.awaiting.clarification", "question"),
        ("agent.awaiting.clarification", "context"),
        ("agent.session.started", "request_text"),
        ("agent.session.cancelled", "partial_result"),
        ("agent.handoff.requested", "reason"),
    ] {
        let found = told(&with(ingest(name), member, json!(format!("Calls it with {secret}."))));
        assert_eq!(found, [format!("{member}: contains what looks like a credential")], "{name}");
    }
    for hidden in [json!({ "deep": [{ "key": secret }] }), json!({ secret: 1 }), json!({ "db_password": "tulip" })] {
        let found = told(&with(ingest("agent.awaiting.confirmation"), "extra_context", hidden));
        assert_eq!(found, ["extra_context: contains what looks like a credential"]);
    }
}
