//! The delegation token as it comes back: our own signature, unchanged, for this operator, in this project.

use super::support::{Ready, SQLITE, claims_of, header_of, tampered, told, with};
use countersign_engine::Role;
use countersign_jose::{KeyPolicy, KeySet, verify_delegation};
use countersign_testkit::{Setup, on_sqlite};
use serde_json::{Value, json};

fn presenting(ready: &Ready, token: impl Into<String>) -> Value {
    with(ready.body(), "delegation_token", json!(token.into()))
}

/// AAP-5.2-01, AAP-7-02
#[tokio::test]
async fn only_our_own_signature_counts() {
    let ready = Ready::on(SQLITE).await;
    let token = &ready.connected.delegation_token;
    let claims = claims_of(token);
    let acme = ready.plane.acme();
    let as_if_ours = json!({ "alg": "ES256", "typ": "aap-delegation+jwt", "kid": header_of(token)["kid"] });
    let more = with(claims.clone(), "scopes", json!(["calendar.read", "calendar.write", "calendar.admin"]));
    let parts: Vec<&str> = token.split('.').collect();
    let widened = acme.key.sign("JWT", &more).unwrap();
    let widened: Vec<&str> = widened.split('.').collect();
    let look_alikes = [
        acme.key.sign("aap-delegation+jwt", &claims).unwrap(),
        acme.key.sign("JWT", &claims).unwrap(),
        acme.key.sign_with_header(&as_if_ours, &claims).unwrap(),
        tampered(token),
        format!("{}.{}.{}", parts[0], widened[1], parts[2]),
        format!("{}.{}.", parts[0], parts[1]),
    ];
    for forged in look_alikes {
        assert_eq!(
            ready.refusal(&presenting(&ready, forged.clone())).await,
            told(401, "delegation_invalid"),
            "{forged}"
        );
    }

    let jwks = ready.plane.get("/.well-known/agent-jwks.json").await.expect(200);
    let kid = header_of(token)["kid"].clone();
    assert!(jwks.json()["keys"].as_array().unwrap().iter().any(|key| key["kid"] == kid && key["use"] == "sig"));
    let keys = KeySet::parse(&jwks.body, &KeyPolicy::default()).unwrap();
    verify_delegation(token, &keys, &[ready.plane.service()], ready.plane.now()).unwrap();
    ready.register(&presenting(&ready, token.clone())).await.expect(200);
}

on_sqlite! {
    /// AAP-5.2-02
    async fn an_operator_cannot_use_another_operators_delegation(kit) {
        let setup = Setup { operators: vec!["acme.test", "other.test"], ..Setup::default() };
        let ready = Ready::with(kit, setup).await;
        let plane = &ready.plane;
        let stolen = plane.register_body(plane.operator("other.test"), &ready.connected);
        assert_eq!(ready.refusal(&stolen).await, told(401, "delegation_mismatch"));
        // Not even under our signature: the stored row decides.
        let claims = with(claims_of(&ready.connected.delegation_token), "delegated_to", json!("other.test"));
        let renamed = with(stolen, "delegation_token", json!(plane.sign_delegation(&claims).await));
        assert_eq!(ready.refusal(&renamed).await, told(401, "delegation_mismatch"));
        ready.register(&ready.body()).await.expect(200);
    }

    /// AAP-16.2-05
    async fn a_delegation_that_is_unknown_here_is_not_found_for_any_caller(kit) {
        let plane = kit.plane_with(Setup::multi()).await;
        let alice = plane.person_in("north", "alice", &[Role::User]).await;
        plane.give_roles("south", "alice", &[Role::User]).await;
        let connected = plane.connect_at("/projects/north", &alice, plane.acme(), &["calendar.read"]).await;
        let foreign = plane.post("/projects/south/agent/register", &plane.register_body(plane.acme(), &connected)).await;
        assert_eq!(foreign.refusal(), told(401, "delegation_not_found"));

        let claims = with(claims_of(&connected.delegation_token), "delegation_id", json!("del_0123456789abcdef"));
        let body = plane.register_body(plane.acme(), &connected);
        let body = with(body, "delegation_token", json!(plane.sign_delegation(&claims).await));
        let unknown = plane.post("/projects/south/agent/register", &body).await;
        assert_eq!(unknown.refusal(), foreign.refusal());
        let told = |answer: &countersign_testkit::Answer| with(answer.json(), "request_id", Value::Null);
        assert_eq!(told(&unknown), told(&foreign));
        plane.post("/projects/north/agent/register", &plane.register_body(plane.acme(), &connected)).await.expect(200);
    }
}
