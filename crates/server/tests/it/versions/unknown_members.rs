//! Members of a later minor version are ignored in documents of others, and refused in documents that only we issue (C-07).

use crate::schemas;
use countersign_protocol::aap::manifest::Manifest;
use countersign_testkit::on_sqlite;
use serde_json::json;

on_sqlite! {
    /// AAP-22.4-02
    async fn unknown_members_are_ignored_in_requests_receipts_and_identities(kit) {
        let plane = kit.plane().await;
        let acme = plane.acme();
        let mut identity = acme.identity();
        identity["favourite_colour"] = json!({ "of": ["2.1"] });
        acme.publish_identity(&identity);
        schemas::assert_valid("operator-identity", &identity);
        let alice = plane.person("alice").await;
        let connected = plane.connect(&alice, acme, &["calendar.read"]).await;
        let mut receipt = plane.receipt_claims(acme, "alice", &connected, &["calendar.read"]);
        receipt["weather"] = json!("fair");
        receipt["execution_window"] = json!({
            "earliest": plane.now().to_rfc3339(), "latest": plane.now().plus_secs(60).to_rfc3339(), "zone": "UTC",
        });
        schemas::assert_valid("consent-receipt", &receipt);
        let mut body = plane.register_body(acme, &connected);
        body["consent_receipt"] = json!(acme.sign_receipt(&receipt));
        body["capabilities"] = json!({ "later": [1, 2, 3] });
        let registered = plane.register_with(&body, Some(&connected)).await;
        schemas::assert_valid("register-response", &registered.answer);
        let revoke = json!({ "delegation_id": connected.delegation_id, "because": ["of", "reasons"] });
        alice.post(&plane, "/agent/revoke", &revoke).await.expect(200);
    }

    /// AAP-22.4-02: a token that only we issue holds our claims and nothing else.
    async fn a_delegation_token_with_a_claim_that_we_never_write_is_refused_though_our_key_signed_it(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        let mut connected = plane.connect(&alice, plane.acme(), &["calendar.read"]).await;
        let mut claims = schemas::claims_of(&connected.delegation_token);
        schemas::assert_valid("delegation-token", &claims);

        connected.delegation_token = plane.sign_delegation(&claims).await;
        plane.register(plane.acme(), &connected).await;
        claims["effective_policy"] = json!({});
        connected.delegation_token = plane.sign_delegation(&claims).await;
        let refused = plane.post("/agent/register", &plane.register_body(plane.acme(), &connected)).await;
        assert_eq!(refused.refusal(), (401, "delegation_invalid".into()));
    }
}

/// AAP-22.4-02
#[test]
fn an_agent_reads_a_manifest_with_members_that_it_does_not_know() {
    let manifest = json!({
        "spec": "aap/2.1", "service": "https://api.example.test", "minimum_tier": 2, "colour": { "r": 1 },
        "endpoints": { "register": "/r", "delegate": "/d", "revoke": "/v", "audit": "/a", "later": "/l" },
        "conformance": { "tier": "core", "spec": "aap/2.1", "by": "somebody" },
    });
    let read = Manifest::parse(manifest.to_string().as_bytes()).unwrap();
    assert!(read.intent_required, "absent means true");
}
