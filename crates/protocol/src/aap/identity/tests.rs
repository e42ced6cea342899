#![allow(clippy::unwrap_used, reason = "tests say what went wrong by failing")]

use super::*;
use serde_json::{Value, json};

fn manifest() -> Value {
    json!({
        "operator": "Acme Corp",
        "domain": "acme.com",
        "contact": "security@acme.com",
        "signing_keys": "https://acme.com/.well-known/agent-jwks.json",
    })
}

fn with(member: &str, value: Value) -> Value {
    let mut document = manifest();
    document.as_object_mut().unwrap().insert(member.into(), value);
    document
}

fn refused(document: Value) -> &'static str {
    IdentityManifest::parse(document.to_string().as_bytes()).unwrap_err().member
}

fn parsed(document: Value) -> IdentityManifest {
    IdentityManifest::parse(document.to_string().as_bytes()).unwrap()
}

/// AAP-19.2-01
#[test]
fn each_of_the_four_required_members_is_missed_by_name() {
    for member in ["operator", "domain", "contact", "signing_keys"] {
        let mut document = manifest();
        document.as_object_mut().unwrap().remove(member);
        let error = IdentityManifest::parse(document.to_string().as_bytes()).unwrap_err();
        assert_eq!((error.member, error.why), (member, "is missing"));
        assert_eq!(refused(with(member, json!(7))), member);
        assert_eq!(refused(with(member, Value::Null)), member);
    }
}

/// AAP-19.2-01
#[test]
fn members_that_nobody_knows_are_ignored() {
    let document = with("favourite_colour", json!({ "r": 1 }));
    assert_eq!(parsed(document), parsed(manifest()));
    let document = with("countersign", json!({ "later": true }));
    assert_eq!(parsed(document), parsed(manifest()));
}

#[test]
fn anything_but_one_plain_object_is_refused() {
    let twice = br#"{"operator":"A","operator":"B","domain":"acme.com"}"#;
    for bytes in [&b"[]"[..], b"null", b"<html></html>", b"", twice] {
        assert_eq!(IdentityManifest::parse(bytes).unwrap_err().member, "the document");
    }
}

/// AAP-19.2-02
#[test]
fn a_name_has_at_most_120_characters_and_can_be_shown() {
    assert_eq!(refused(with("operator", json!("é".repeat(121)))), "operator");
    assert_eq!(refused(with("operator", json!("  "))), "operator");
    assert_eq!(refused(with("operator", json!("Acme\nCorp"))), "operator");
    assert_eq!(parsed(with("operator", json!("é".repeat(120)))).operator.chars().count(), 120);
}

/// AAP-19.2-03
#[test]
fn the_domain_is_a_bare_lower_case_hostname() {
    for wrong in ["127.0.0.1", "[::1]", "https://acme.com", "acme.com.", "ACME.com", "acme.com:443", "acmé.com", "acme"]
    {
        assert_eq!(refused(with("domain", json!(wrong))), "domain", "{wrong}");
    }
}

/// AAP-19.2-04
#[test]
fn the_contact_is_an_email_address() {
    for wrong in
        ["acme.com", "@acme.com", "a@", "a b@acme.com", "a..b@acme.com", "a@b@", "a@acme .com", "a@[127.0.0.1]"]
    {
        assert_eq!(refused(with("contact", json!(wrong))), "contact", "{wrong}");
    }
    for right in ["security@acme.com", "first.last+aap@Mail.Acme.com"] {
        assert_eq!(parsed(with("contact", json!(right))).contact, right);
    }
}

/// AAP-19.2-05
#[test]
fn signing_keys_lie_on_the_operators_own_domain_over_https() {
    let wrong = [
        "http://acme.com/keys",
        "https://evil-acme.com/keys",
        "https://acme.com.evil.org/keys",
        "https://com/keys",
        "https://acme.com@evil.org/keys",
        "https://evil.org#.acme.com",
        "https://evil.org\\.acme.com/keys",
        "https://acme.com:notaport/keys",
        "https://acme.com:/keys",
        "https://ACME.com/keys",
        "https://acme.com./keys",
        "https://acme.com/a b",
        "https://127.0.0.1/keys",
        "/keys",
        "",
    ];
    for wrong in wrong {
        assert_eq!(refused(with("signing_keys", json!(wrong))), "signing_keys", "{wrong}");
    }
    for right in ["https://acme.com/keys", "https://keys.acme.com/v1?set=a", "https://acme.com:8443/keys"] {
        assert_eq!(parsed(with("signing_keys", json!(right))).signing_keys.as_str(), right);
    }
}

#[test]
fn a_webhook_lies_on_the_operators_own_domain_over_https() {
    for wrong in ["http://acme.com/hook", "https://hooks.example.net/acme", "hook"] {
        assert_eq!(refused(with("webhook_url", json!(wrong))), "webhook_url", "{wrong}");
    }
    assert!(parsed(with("webhook_url", json!("https://hooks.acme.com/aap"))).webhook_url.is_some());
}

/// AAP-19.2-07
#[test]
fn since_is_a_date() {
    for wrong in ["2025-13-01", "2025-02-30", "2025", "2025-01-01T00:00:00Z", ""] {
        assert_eq!(refused(with("since", json!(wrong))), "since", "{wrong}");
    }
    assert_eq!(parsed(with("since", json!("2025-01-31"))).since.as_deref(), Some("2025-01-31"));
}

/// AAP-19.2-08
#[test]
fn model_providers_are_hostnames() {
    for wrong in [json!(["https://anthropic.com"]), json!(["anthropic.com", 1]), json!("anthropic.com")] {
        assert_eq!(refused(with("model_providers", wrong)), "model_providers");
    }
    assert_eq!(parsed(with("model_providers", json!(["anthropic.com", "openai.com"]))).model_providers.len(), 2);
}

#[test]
fn registries_are_https_uris() {
    assert_eq!(refused(with("provider_registry_urls", json!(["http://a.com/r"]))), "provider_registry_urls");
    let manifest = parsed(with("provider_registry_urls", json!(["https://anthropic.com/r.json"])));
    assert_eq!(manifest.provider_registry_urls.len(), 1);
}

#[test]
fn callbacks_outside_the_domain_make_no_manifest_and_endless_disclosures_are_left_out() {
    let callbacks = |uri: &str| with("countersign", json!({ "callbacks": [uri] }));
    assert_eq!(refused(callbacks("https://evil-acme.com/back")), "callbacks");
    assert_eq!(refused(callbacks("http://acme.com/back")), "callbacks");
    assert_eq!(parsed(callbacks("https://app.acme.com/back")).countersign.callbacks.len(), 1);

    let disclosure = |words: usize| with("countersign", json!({ "liability_disclosure": "word ".repeat(words) }));
    for (words, shown) in [(0, false), (1, true), (150, true), (151, false)] {
        let read = parsed(disclosure(words)).countersign;
        assert_eq!((read.liability_disclosure.is_some(), read.disclosure_refused.is_none()), (shown, shown), "{words}");
    }
    assert_eq!(refused(with("countersign", json!({ "liability_disclosure": 7 }))), "liability_disclosure");
    assert_eq!(refused(with("countersign", json!([]))), "countersign");
}

#[test]
fn a_service_reads_an_operators_documents_unchanged() {
    let mut document = manifest();
    let more = json!({
        "webhook_url": "https://acme.com/hook",
        "since": "2025-01-01",
        "model_providers": ["anthropic.com"],
        "provider_registry_urls": ["https://anthropic.com/.well-known/agent-operators.json"],
        "countersign": { "callbacks": ["https://acme.com/back"], "liability_disclosure": "We answer for it." },
    });
    document.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    assert_eq!(serde_json::to_value(parsed(document.clone())).unwrap(), document);
    assert_eq!(serde_json::to_value(parsed(manifest())).unwrap(), manifest());
}
