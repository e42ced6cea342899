#![allow(clippy::unwrap_used, reason = "tests say what went wrong by failing")]

use super::*;
use serde_json::json;

fn registry(operators: &Value) -> Result<OperatorRegistry, NotARegistry> {
    OperatorRegistry::parse(
        json!({ "published": "2026-06-01T00:00:00Z", "operators": operators }).to_string().as_bytes(),
    )
}

fn standing(operators: &Value) -> Option<OperatorStanding> {
    registry(operators).unwrap().standing(&Domain::parse("acme.com").unwrap())
}

fn entry(standing: &str) -> Value {
    json!({ "domain": "acme.com", "verified": "2025-03-15", "standing": standing })
}

/// AAP-4.2-01
#[test]
fn the_published_shape_is_read_and_unknown_members_are_ignored() {
    assert_eq!(standing(&json!([entry("good")])), Some(OperatorStanding::Good));
    assert_eq!(
        standing(&json!([{ "domain": "Acme.com", "standing": "good", "tier": 7 }])),
        Some(OperatorStanding::Good)
    );
    assert_eq!(standing(&json!([])), None);
    assert_eq!(standing(&json!([{ "domain": "notacme.com", "standing": "good" }])), None);
    assert_eq!(standing(&json!([{ "domain": "agents.acme.com", "standing": "good" }])), None);
    assert_eq!(standing(&json!([{ "domain": "*", "standing": "good" }, entry("good")])), Some(OperatorStanding::Good));
}

/// AAP-4.2-03
#[test]
fn only_the_word_good_is_good_and_of_two_entries_the_worse_counts() {
    for unknown in ["", "GOOD", "good ", "verified", "pending"] {
        assert_eq!(standing(&json!([entry(unknown)])), None, "{unknown:?}");
        assert_eq!(standing(&json!([entry(unknown), entry("good")])), None, "{unknown:?}");
        assert_eq!(standing(&json!([entry("good"), entry(unknown)])), None, "{unknown:?}");
    }
    let suspended = Some(OperatorStanding::Suspended);
    assert_eq!(standing(&json!([entry("suspended"), entry("good")])), suspended);
    assert_eq!(standing(&json!([entry("good"), entry("suspended")])), suspended);
    assert_eq!(standing(&json!([entry("suspended"), entry("revoked")])), Some(OperatorStanding::Revoked));
}

#[test]
fn a_malformed_registry_lists_nobody() {
    assert!(registry(&json!({ "acme.com": "good" })).is_err());
    assert!(registry(&json!(["acme.com"])).is_err());
    assert!(registry(&json!([{ "domain": "acme.com" }])).is_err());
    assert!(registry(&json!([{ "domain": "acme.com", "standing": true }])).is_err());
    for bytes in ["", "[]", "{}", "{\"operators\":[],\"operators\":[]}", "<html>"] {
        assert!(OperatorRegistry::parse(bytes.as_bytes()).is_err(), "{bytes}");
    }
}
