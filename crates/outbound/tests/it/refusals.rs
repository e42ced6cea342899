//! Refused operators, each for its own reason.

use crate::{
    fixture::{DirectoryFixture, at, domain, jwks},
    operator_host::{Answer, IDENTITY, JWKS},
};
use countersign_jose::KeyPolicy;
use countersign_outbound::{
    Fetcher, FetcherConfig, Resolver,
    operators::{Directory, DirectoryConfig, OperatorUnavailable},
};
use http::StatusCode;
use serde_json::{Value, json};
use std::{io, net::IpAddr, sync::Arc};

/// The error for a manifest with one member replaced, and the requested URLs.
async fn with_member(member: &str, value: Value) -> (OperatorUnavailable, Vec<String>) {
    let fixture = DirectoryFixture::start().await;
    let mut identity = fixture.host.identity();
    identity[member] = value;
    fixture.host.set_document(IDENTITY, identity.to_string());
    (fixture.lookup("k1", 0).await.unwrap_err(), fixture.asked.urls())
}

/// AAP-19.2-05, AAP-4.1-02
#[tokio::test]
async fn keys_outside_the_operators_domain_are_refused_and_not_fetched() {
    let elsewhere = [
        "http://acme.test/keys",
        "https://stranger.test/keys",
        "https://evil-acme.test/keys",
        "https://acme.test.stranger.test/keys",
    ];
    for url in elsewhere {
        let (why, asked) = with_member("signing_keys", json!(url)).await;
        assert!(matches!(why, OperatorUnavailable::NoManifest { .. }), "{url}: {why}");
        assert_eq!(asked, ["https://acme.test/.well-known/agent-identity.json"], "{url}");
    }
}

/// AAP-4.1-08
#[tokio::test]
async fn keys_on_another_port_are_refused_and_not_fetched() {
    let (why, asked) = with_member("signing_keys", json!("https://acme.test:8443/keys")).await;
    assert!(matches!(why, OperatorUnavailable::Forbidden { .. }), "{why}");
    assert_eq!(asked.len(), 1);
}

#[tokio::test]
async fn a_manifest_of_another_domain_is_a_reason_of_its_own() {
    let (why, asked) = with_member("domain", json!("other.test")).await;
    assert_eq!(why, OperatorUnavailable::DomainDiffers { claimed: domain("other.test") });
    assert_eq!(asked.len(), 1);
}

/// AAP-19.2-01, AAP-19.2-02, AAP-19.2-03, AAP-19.2-04, AAP-19.2-07, AAP-19.2-08
#[tokio::test]
async fn a_manifest_against_the_schema_counts_as_none() {
    let faulty = [
        ("operator", Value::Null),
        ("operator", json!("x".repeat(121))),
        ("domain", json!("acme.test.")),
        ("contact", json!("nobody")),
        ("since", json!("2025-13-01")),
        ("model_providers", json!(["https://anthropic.com"])),
    ];
    for (member, value) in faulty {
        let (why, _) = with_member(member, value).await;
        let OperatorUnavailable::NoManifest { why } = why else { panic!("{member}: {why}") };
        assert!(why.contains(member), "{why}");
    }
}

/// AAP-20.3-02
#[tokio::test]
async fn nothing_that_can_go_wrong_with_the_documents_lets_anybody_through() {
    let broken = [
        Answer::status(StatusCode::NOT_FOUND),
        Answer::status(StatusCode::INTERNAL_SERVER_ERROR),
        Answer::status(StatusCode::NO_CONTENT),
        Answer::redirect("https://acme.test/elsewhere"),
        Answer::new(StatusCode::OK, &[("content-type", "text/html")], "{}"),
        Answer::json(""),
        Answer::json("{}"),
        Answer::json(r#"{"keys":"#),
        Answer::json(r#"{"keys":[]}"#),
        Answer::json(r#"{"keys":[{"kid":"k1"}]}"#),
        Answer::json(r#"{"keys":[{"kid":"k1","kty":"oct","k":"AAAA"}]}"#),
        Answer::json(vec![b' '; 70_000]),
    ];
    for path in [IDENTITY, JWKS] {
        for answer in &broken {
            let fixture = DirectoryFixture::start().await;
            fixture.host.set_answer(path, answer.clone());
            assert!(fixture.lookup("k1", 0).await.is_err(), "{path} {answer:?}");
            assert!(fixture.lookup("k1", 1).await.is_err(), "{path} {answer:?}");
        }
    }
}

/// AAP-20.3-02
#[tokio::test]
async fn a_stall_lets_nobody_through() {
    let fixture = DirectoryFixture::start().await;
    fixture.host.stall();
    let directory = fixture.directory.clone();
    let asking = tokio::spawn(async move { directory.operator(&domain("acme.test"), "k1", at(0), "a").await });
    fixture.host.wait_for_requests(1).await;
    tokio::time::pause();
    let why = asking.await.unwrap().unwrap_err();
    assert!(matches!(why, OperatorUnavailable::Unreachable { .. }), "{why}");
}

struct Inside;

#[async_trait::async_trait]
impl Resolver for Inside {
    async fn resolve(&self, _host: &str) -> io::Result<Vec<IpAddr>> {
        Ok(vec!["169.254.169.254".parse().unwrap(), "::ffff:127.0.0.1".parse().unwrap()])
    }
}

/// AAP-4.1-08
#[tokio::test]
async fn an_operator_whose_name_leads_inside_is_refused_without_naming_the_address() {
    let config = FetcherConfig { native_roots: false, ..FetcherConfig::default() };
    let fetcher = Fetcher::new(config).unwrap().with_resolver(Arc::new(Inside));
    let directory = Directory::new(fetcher, DirectoryConfig::default());
    let why = directory.operator(&domain("inside.test"), "k1", at(0), "a").await.unwrap_err();
    assert!(matches!(why, OperatorUnavailable::Forbidden { .. }));
    assert!(!why.to_string().contains("169.254") && !why.hint().contains("169.254"));
}

/// AAP-20.3-03
#[tokio::test]
async fn a_missing_manifest_an_unknown_kid_and_silence_have_three_different_hints() {
    let fixture = DirectoryFixture::start().await;
    let unknown = fixture.lookup("k2", 0).await.unwrap_err();
    fixture.host.go_offline();
    let silent = fixture.lookup("k1", 3_601).await.unwrap_err();
    fixture.host.recover();
    fixture.host.remove(IDENTITY);
    let missing = fixture.lookup("k1", 3_661).await.unwrap_err();

    assert_eq!(unknown, OperatorUnavailable::UnknownKid);
    assert!(matches!(silent, OperatorUnavailable::Unreachable { .. }), "{silent}");
    assert!(matches!(missing, OperatorUnavailable::NoManifest { .. }), "{missing}");
    assert!(unknown.hint() != silent.hint() && silent.hint() != missing.hint() && missing.hint() != unknown.hint());
}

/// AAP-20.1-01
#[tokio::test]
async fn a_key_without_a_kid_is_never_used_even_if_it_is_the_only_one() {
    let fixture = DirectoryFixture::start().await;
    let mut keys = jwks(&["k1"]);
    keys["keys"][0].as_object_mut().unwrap().remove("kid");
    fixture.host.set_document(JWKS, keys.to_string());
    for kid in ["k1", "", "0"] {
        assert_eq!(fixture.lookup(kid, 0).await.unwrap_err(), OperatorUnavailable::UnknownKid);
    }
}

#[tokio::test]
async fn published_test_keys_are_used_only_where_that_is_permitted() {
    let published = json!({ "keys": [{
        "kty": "EC", "crv": "P-256", "kid": "aap-test-op-1", "use": "sig", "alg": "ES256",
        "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
    }] });
    let fixture = DirectoryFixture::start().await;
    fixture.host.publish(&published);
    assert!(matches!(fixture.lookup("aap-test-op-1", 0).await, Err(OperatorUnavailable::BadKeys { .. })));

    let key_policy = KeyPolicy { allow_published_test_keys: true };
    let fixture = DirectoryFixture::start_with(DirectoryConfig { key_policy, ..DirectoryConfig::default() }).await;
    fixture.host.publish(&published);
    assert!(fixture.lookup("aap-test-op-1", 0).await.is_ok());
}
