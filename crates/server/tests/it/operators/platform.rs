//! The platform as an operator of its own.

use crate::register::support::SQLITE;
use countersign_jose::{KeyPolicy, KeySet};
use countersign_protocol::aap::identity::IdentityManifest;
use countersign_testkit::Setup;
use serde_json::json;

/// AAP-4-01
#[tokio::test]
async fn the_platform_publishes_an_identity_that_any_service_would_accept() {
    for setup in [Setup::default(), Setup::multi()] {
        let plane = SQLITE.plane_with(setup).await;
        let answer = plane.get("/.well-known/agent-identity.json").await.expect(200);
        assert_eq!(answer.header("content-type"), Some("application/json"));
        let schema = json!({
            "type": "object",
            "required": ["operator", "domain", "signing_keys", "contact"],
            "properties": {
                "operator": { "type": "string", "minLength": 1, "maxLength": 120 },
                "domain": { "const": "api.example.test" },
                "contact": { "type": "string", "format": "email" },
                "signing_keys": { "const": "https://api.example.test/.well-known/agent-jwks.json" },
                "webhook_url": { "type": "string", "format": "uri" },
                "since": { "type": "string", "format": "date" },
                "model_providers": { "type": "array", "items": { "type": "string", "format": "hostname" } },
            },
        });
        let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
        if let Err(why) = validator.validate(&answer.json()) {
            panic!("{why}: {}", answer.text());
        }
        IdentityManifest::parse(&answer.body).unwrap();
    }
}

/// AAP-23-02, AAP-20.4-03
#[tokio::test]
async fn the_platform_publishes_usable_public_keys_and_no_private_part() {
    let plane = SQLITE.plane().await;
    plane.engine.rotate_keys().await.unwrap();
    let answer = plane.get("/.well-known/agent-jwks.json").await.expect(200);
    let set = answer.json();
    let keys = set["keys"].as_array().unwrap();
    assert_eq!(keys.len(), 2);
    for key in keys {
        let mut members: Vec<&str> = key.as_object().unwrap().keys().map(String::as_str).collect();
        members.sort_unstable();
        assert_eq!(members, ["alg", "crv", "kid", "kty", "use", "x", "y"], "{key}");
        assert_eq!((&key["alg"], &key["crv"]), (&json!("ES256"), &json!("P-256")));
    }
    assert_eq!(KeySet::parse(&answer.body, &KeyPolicy::default()).unwrap().kids().count(), 2);
}
