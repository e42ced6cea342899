#![allow(clippy::unwrap_used, reason = "tests say what went wrong by failing")]

use super::*;
use crate::{aap::access::proof_required, project::check};
use serde_json::{Value, json};

const TIERS: [ConformanceTier; 3] = [ConformanceTier::Core, ConformanceTier::Extended, ConformanceTier::Full];

fn document(changes: Value) -> ProjectDocument {
    let mut document = json!({
        "id": "shop",
        "scopes": [{ "id": "shop.help", "description": "Help", "allows": ["order.refund"], "intent_types": ["HELP"] }],
        "routes": [{ "id": "refund", "method": "POST", "path": "/refunds", "action": "order.refund" }],
    });
    document.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    serde_json::from_value(document).unwrap()
}

fn complaints(document: &ProjectDocument) -> Vec<String> {
    let problems = check(document).into_iter().filter(|problem| problem.at.starts_with("conformance"));
    problems.map(|problem| problem.why).collect()
}

/// AAP-15-01
#[test]
fn each_tier_has_every_part_of_the_tiers_below_it() {
    let bare = document(json!({}));
    let parts = |tier| missing(&bare, tier).map(|part| part.name).collect::<Vec<_>>();
    let [core, extended, full] = TIERS.map(parts);
    assert!(core.is_empty(), "a plain document is core: {core:?}");
    assert!(!extended.is_empty() && extended.iter().all(|part| full.contains(part)));
    assert!(full.len() > extended.len());
    assert!(!PARTS.iter().any(|part| part.tier == ConformanceTier::Core));
}

/// AAP-15-21
#[test]
fn a_claim_beyond_the_document_is_refused_with_every_missing_part() {
    assert_eq!(complaints(&document(json!({}))), [""; 0]);
    let claims = document(json!({ "conformance": { "tier": "full" } }));
    let told = complaints(&claims).join("\n");
    for part in missing(&claims, ConformanceTier::Full) {
        assert!(told.contains(part.name) && told.contains(part.demands), "{}: {told}", part.name);
    }
    assert!(told.contains("identity_modes_supported") && told.contains("trusted_providers"), "{told}");
    let trusting = document(json!({ "conformance": { "tier": "full" }, "trusted_providers": ["openai.test"] }));
    assert!(!complaints(&trusting).join("\n").contains("trusted_providers"));
}

/// AAP-15-12, AAP-14.1-01, C-04
#[test]
fn dry_runs_are_provided_unless_no_write_offers_one_or_a_stream_that_writes_is_silent_about_it() {
    let lacks = |routes: Value| {
        let document = document(json!({ "routes": routes, "conformance": { "tier": "extended" } }));
        complaints(&document).iter().any(|why| why.contains("needs dry runs"))
    };
    let write = |id: &str, more: Value| {
        let mut route = json!({ "id": id, "method": "POST", "path": format!("/{id}"), "action": "order.refund" });
        route.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        route
    };
    let plain = || write("a", json!({}));
    assert!(!lacks(json!([plain()])));
    assert!(!lacks(json!([plain(), write("b", json!({ "dry_run": false }))])));
    assert!(!lacks(json!([write("a", json!({ "dry_run": { "upstream": "query" } }))])));
    assert!(!lacks(json!([write("a", json!({ "method": "GET" }))])), "a service that only reads");
    assert!(lacks(json!([write("a", json!({ "dry_run": false }))])));
    assert!(lacks(json!([plain(), write("b", json!({ "stream": "events" }))])));
    assert!(!lacks(json!([plain(), write("b", json!({ "stream": "events", "dry_run": false }))])));
}

/// AAP-15-12, AAP-15-21
#[test]
fn a_document_that_provides_everything_may_claim_the_full_tier() {
    let whole = document(json!({
        "conformance": { "tier": "full" },
        "identity_modes_supported": ["user_delegated", "service_account"],
        "trusted_providers": ["openai.test"],
        "upstreams": [{ "id": "shop", "url": "http://127.0.0.1:9" }],
        "scopes": [{ "id": "shop.help", "description": "Help", "allows": ["order.refund"], "intent_types": ["HELP"],
            "irreversible": true, "undo_window_s": 20 }],
        "routes": [{ "id": "refund", "method": "POST", "path": "/refunds", "action": "order.refund", "undo": { "by": "hold" } }],
    }));
    assert_eq!(check(&whole), []);
}

/// AAP-15-21
#[test]
fn the_date_of_the_last_suite_run_is_a_date() {
    assert_eq!(complaints(&document(json!({ "conformance": { "tested": "2026-06-01" } }))), [""; 0]);
    for bad in ["yesterday", "2026-13-01", "2026-06-01T00:00:00Z", ""] {
        assert_eq!(complaints(&document(json!({ "conformance": { "tested": bad } }))).len(), 1, "{bad}");
    }
}

/// AAP-13.1-06, AAP-13.1-07
#[test]
fn proofs_are_demanded_by_the_claim_the_trust_tier_or_the_project_and_by_nothing_else() {
    for tier in [1, 2] {
        assert!(!proof_required(&document(json!({ "minimum_tier": tier }))));
    }
    for demanding in [
        json!({ "conformance": { "tier": "extended" } }),
        json!({ "conformance": { "tier": "full" } }),
        json!({ "minimum_tier": 3 }),
        json!({ "minimum_tier": 4, "trusted_providers": ["openai.test"] }),
        json!({ "dpop": { "required": true } }),
    ] {
        assert!(proof_required(&document(demanding.clone())), "{demanding}");
    }
}

/// AAP-4.2-05
#[test]
fn tier_four_needs_a_provider_of_the_projects_own_choice() {
    let problems =
        |changes| check(&document(changes)).into_iter().map(|p| format!("{}: {}", p.at, p.why)).collect::<String>();
    assert!(problems(json!({ "minimum_tier": 4 })).contains("trusted_providers"));
    assert_eq!(problems(json!({ "minimum_tier": 4, "trusted_providers": ["openai.test"] })), "");
    assert!(problems(json!({ "minimum_tier": 5 })).contains("must be 1 to 4"));
    assert!(problems(json!({ "trusted_providers": ["openai.test", "openai.test"] })).contains("twice"));
    for watch in [json!({ "window_seconds": 0 }), json!({ "ipv4_prefix": 33 }), json!({ "ipv6_prefix": 3 })] {
        assert!(problems(json!({ "concurrent_use": watch.clone() })).contains("concurrent_use."), "{watch}");
    }
    assert_eq!(problems(json!({ "concurrent_use": {} })), "");
}
