use super::{
    Capabilities, Close, ReasonCode, Renegotiate, SubscriptionAccepted, SubscriptionRejected, SubscriptionRequest,
};
use crate::aaep::event::Boundary;
use serde_json::{Value, json};

fn request(capabilities: Value) -> Value {
    json!({
        "type": "subscription.request", "aaep_version": "1.0.0", "subscriber_id": "reader", "capabilities": capabilities,
    })
}

fn with(mut of: Value, name: &str, value: Value) -> Value {
    of[name] = value;
    of
}

fn without(mut of: Value, name: &str) -> Value {
    of.as_object_mut().unwrap().remove(name);
    of
}

#[test]
fn a_request_that_is_wrong_is_refused_with_the_member_that_is_wrong() {
    let sound = request(json!({}));
    let long = "x".repeat(257);
    let wrong = [
        (json!([]), "object"),
        (json!(null), "object"),
        (without(sound.clone(), "type"), "type"),
        (with(sound.clone(), "type", json!("subscription.accepted")), "type"),
        (without(sound.clone(), "aaep_version"), "aaep_version"),
        (with(sound.clone(), "aaep_version", json!("1.0")), "aaep_version"),
        (with(sound.clone(), "aaep_version", json!(1)), "aaep_version"),
        (without(sound.clone(), "subscriber_id"), "subscriber_id"),
        (with(sound.clone(), "subscriber_id", json!("")), "subscriber_id"),
        (with(sound.clone(), "subscriber_id", json!(long)), "subscriber_id"),
        (with(sound.clone(), "subscriber_name", json!(long)), "subscriber_name"),
        (with(sound.clone(), "subscriber_version", json!("1".repeat(65))), "subscriber_version"),
        (with(sound.clone(), "subscriber_manifest_uri", json!("no uri")), "subscriber_manifest_uri"),
        (with(sound.clone(), "correlation_id", json!(7)), "correlation_id"),
        (with(sound.clone(), "extensions", json!({"org_x": 1})), "extensions"),
        (without(sound.clone(), "capabilities"), "capabilities"),
        (with(sound.clone(), "capabilities", json!([])), "capabilities"),
        (with(sound, "secret", json!("hunter2")), "not known"),
    ];
    for (document, member) in wrong {
        let why = SubscriptionRequest::parse(&document).unwrap_err();
        assert!(why.contains(member) && !why.contains("hunter2"), "{document} gave: {why}");
    }
}

#[test]
fn a_known_capability_that_is_wrong_is_refused_by_its_name() {
    let many = |n: usize, of: &str| json!((0..n).map(|n| format!("{of}{n}")).collect::<Vec<_>>());
    let wrong = [
        ("max_events_per_second", vec![json!(0), json!(100_001), json!("3"), json!(1.5), json!(null)]),
        ("preferred_verbosity", vec![json!("loud"), json!(1)]),
        ("languages", vec![json!([]), json!(["en", "en"]), json!(["e n"]), json!("en"), many(33, "l")]),
        ("supports_confirmation_reply", vec![json!("true"), json!(1)]),
        ("supports_clarification_reply", vec![json!(null)]),
        ("coalesce_boundaries", vec![json!([]), json!(["line"]), json!(["word", "word"])]),
        ("event_filters", vec![json!([]), json!({"only": []}), json!({"include": [""]}), json!({"exclude": "x"})]),
        ("event_filters", vec![json!({"include": ["a", "a"]}), json!({"include": ["x".repeat(257)]})]),
        ("event_filters", vec![json!({"include": many(257, "t")})]),
        ("supported_conformance_levels", vec![json!([]), json!([0]), json!([4]), json!([1, 1]), json!(["1"])]),
        ("supported_extensions", vec![json!(["no uri"]), json!(["x:a", "x:a"]), many(65, "x:")]),
        ("cognitive_load", vec![json!("none")]),
        ("pace_wpm", vec![json!(49), json!(1001), json!("180")]),
        ("accept_signed_manifests_only", vec![json!("yes")]),
    ];
    for (name, values) in wrong {
        for value in values {
            let why = SubscriptionRequest::parse(&request(json!({ name: value }))).unwrap_err();
            assert!(why.contains(&format!("capabilities.{name}")), "{name}: {value} gave: {why}");
        }
    }
}

/// C23
#[test]
fn unknown_capabilities_are_kept_if_they_are_objects_and_otherwise_ignored() {
    let asked = json!({
        "azlearn": {"tonal_marks": true}, "volume": 11, "colours": ["red"], "mode": null, "pace_wpm": 180.0,
    });
    let read = Capabilities::parse(&asked).unwrap();
    assert_eq!(Value::Object(read.extensions.clone()), json!({"azlearn": {"tonal_marks": true}}));
    assert_eq!(serde_json::to_value(&read).unwrap(), json!({"azlearn": {"tonal_marks": true}, "pace_wpm": 180}));
}

#[test]
fn everything_that_may_be_asked_for_is_read_and_written_alike() {
    let asked = json!({
        "max_events_per_second": 5, "preferred_verbosity": "terse", "languages": ["yo-NG", "en-US"],
        "supports_confirmation_reply": true, "supports_clarification_reply": false,
        "coalesce_boundaries": ["sentence", "paragraph", "completion"],
        "event_filters": {"include": ["aaep:agent.*"], "exclude": []},
        "supported_conformance_levels": [1, 2, 3], "supported_extensions": ["https://example.org/x/v1"],
        "cognitive_load": "low", "pace_wpm": 180, "accept_signed_manifests_only": true,
    });
    let whole = with(with(request(asked), "subscriber_name", json!("Reader 1")), "extensions", json!({"org_x": {}}));
    let read = SubscriptionRequest::parse(&whole).unwrap();
    assert_eq!(read.capabilities.coalesce_boundaries.as_ref().unwrap()[0], Boundary::Sentence);
    assert_eq!(serde_json::to_value(&read).unwrap(), whole);
}

#[test]
fn an_acceptance_is_read_as_strictly_as_it_is_written() {
    let sound = json!({
        "type": "subscription.accepted", "subscription_id": "sub_8a4f", "aaep_version": "1.0.0",
        "producer": {"agent_id": "hub"}, "honored_capabilities": {"max_events_per_second": 2},
        "manifest_uri": "https://example.org/m.json", "signed_manifest": "eyJ.eyJ.c2ln",
        "negotiation_notes": "fewer events",
    });
    let wrong = [
        ("subscription_id", json!("8a4f")),
        ("subscription_id", json!("sub_a-b")),
        ("aaep_version", json!("one")),
        ("producer", json!({})),
        ("producer", json!({"agent_id": "hub", "colour": "red"})),
        ("honored_capabilities", json!({"languages": []})),
        ("manifest_uri", json!("here")),
        ("signed_manifest", json!("eyJ.eyJ")),
        ("signed_manifest", json!("eyJ..c2ln")),
        ("negotiation_notes", json!("n".repeat(4097))),
    ];
    for (name, value) in wrong {
        let why = SubscriptionAccepted::parse(&with(sound.clone(), name, value)).unwrap_err();
        assert!(why.contains(name), "{name}: {why}");
    }
    assert!(SubscriptionAccepted::parse(&with(sound.clone(), "more", json!(1))).is_err());
    for name in ["subscription_id", "aaep_version", "producer", "honored_capabilities"] {
        assert!(SubscriptionAccepted::parse(&without(sound.clone(), name)).unwrap_err().contains(name));
    }
    assert_eq!(serde_json::to_value(SubscriptionAccepted::parse(&sound).unwrap()).unwrap(), sound);
}

#[test]
fn a_rejection_has_one_of_eight_reasons_and_a_message() {
    let sound = json!({
        "type": "subscription.rejected", "reason_code": "rate_limit", "reason_message": "full",
        "retry_after_seconds": 60, "alternative_manifest_uri": "https://example.org/m.json",
    });
    let read = SubscriptionRejected::parse(&sound).unwrap();
    assert_eq!((read.reason_code, read.retry_after_seconds), (ReasonCode::RateLimit, Some(60)));
    assert_eq!(serde_json::to_value(&read).unwrap(), sound);
    for code in [
        "version_unsupported",
        "manifest_signature_required",
        "capabilities_incompatible",
        "authentication_required",
        "authorization_denied",
        "transport_unavailable",
        "unknown",
    ] {
        let read = SubscriptionRejected::parse(&with(sound.clone(), "reason_code", json!(code))).unwrap();
        assert_eq!(serde_json::to_value(read).unwrap()["reason_code"], code);
    }
    for (name, value) in [
        ("reason_code", json!("bored")),
        ("reason_message", json!("")),
        ("retry_after_seconds", json!(86_401)),
        ("retry_after_seconds", json!(-1)),
        ("alternative_manifest_uri", json!("")),
    ] {
        assert!(SubscriptionRejected::parse(&with(sound.clone(), name, value)).unwrap_err().contains(name));
    }
}

#[test]
fn a_change_of_terms_names_its_subscription_and_sound_capabilities() {
    let sound = json!({
        "type": "subscription.renegotiate", "subscription_id": "sub_1", "capabilities": {"languages": ["de"]},
    });
    assert_eq!(serde_json::to_value(Renegotiate::parse(&sound).unwrap()).unwrap(), sound);
    for (name, value) in [
        ("type", json!("subscription.close")),
        ("subscription_id", json!("sub_")),
        ("capabilities", json!({"pace_wpm": 1})),
        ("capabilities", json!(null)),
    ] {
        assert!(Renegotiate::parse(&with(sound.clone(), name, value)).unwrap_err().contains(name));
    }
    assert!(Renegotiate::parse(&with(sound, "subscriber_id", json!("x"))).is_err());
}

#[test]
fn a_close_message_names_the_subscription_and_needs_no_reason() {
    let bare = json!({"type": "subscription.close", "subscription_id": "sub_1"});
    assert_eq!(serde_json::to_value(Close::parse(&bare).unwrap()).unwrap(), bare);
    let said = with(with(bare.clone(), "reason_code", json!("done")), "reason_message", json!("bye"));
    assert_eq!(serde_json::to_value(Close::parse(&said).unwrap()).unwrap(), said);
    assert!(Close::parse(&without(bare.clone(), "subscription_id")).unwrap_err().contains("subscription_id"));
    assert!(Close::parse(&with(bare.clone(), "reason_code", json!(""))).unwrap_err().contains("reason_code"));
    assert!(Close::parse(&with(bare, "because", json!("x"))).is_err());
}
