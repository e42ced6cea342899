use super::producer::{ORIGIN, accepted, accepting, answer, config};
use crate::service::Service;
use countersign_client::aaep::{ManifestKeys, Manifests, NotProven, SubscribeError, SubscriberClient};
use countersign_jose::{KeyPolicy, KeySet, SigningKey};
use countersign_protocol::aap::jwks::Jwks;
use serde_json::{Value, json};
use std::sync::Arc;

const KEYS: &str = "/.well-known/agent-jwks.json";

fn manifest(agent_id: &str) -> Value {
    json!({
        "@context": "https://aaep-protocol.org/context/v1",
        "type": "aaep:producer.manifest",
        "agent_id": agent_id,
        "aaep_versions_supported": ["1.0.0"],
        "conformance_levels_supported": [1, 2, 3],
        "transports_supported": ["sse"],
    })
}

fn key(kid: &str) -> SigningKey {
    SigningKey::generate(Some(kid)).unwrap()
}

fn jwks(key: &SigningKey) -> Value {
    serde_json::to_value(Jwks { keys: vec![key.public_jwk().clone()] }).unwrap()
}

/// A producer with this signed manifest and these published keys.
fn producer(signed: Option<String>, keys: &Value) -> Arc<Service> {
    let mut terms = accepted("sub_1");
    if let Some(signed) = signed {
        terms["signed_manifest"] = json!(signed);
    }
    let producer = accepting();
    producer.answers("/aaep/v1/subscriptions", [answer(201, &terms)]);
    producer.answers(KEYS, [answer(200, keys)]);
    producer
}

async fn connect(producer: &Arc<Service>, manifests: Manifests) -> Result<SubscriberClient, SubscribeError> {
    let mut config = config();
    config.manifests = manifests;
    SubscriberClient::connect(config, producer.clone(), Box::new(|| 0)).await
}

fn published() -> Manifests {
    Manifests::SignedOnly(ManifestKeys::Published)
}

async fn refused(producer: &Arc<Service>, manifests: Manifests) -> NotProven {
    match connect(producer, manifests).await {
        Err(SubscribeError::NotProven(why)) => why,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it connected"),
    }
}

/// AAEP-6.9-03
#[tokio::test]
async fn signed_only_refuses_a_manifest_that_is_missing_forged_or_somebody_elses() {
    let (own, forger) = (key("k1"), key("k1"));
    let sign = |key: &SigningKey, manifest: &Value| Some(key.sign("JWT", manifest).unwrap());
    assert_eq!(refused(&producer(None, &jwks(&own)), published()).await, NotProven::NotSigned);
    let forged = producer(sign(&forger, &manifest("robot.example")), &jwks(&own));
    assert!(matches!(refused(&forged, published()).await, NotProven::BadManifest(_)));
    let other = producer(sign(&own, &manifest("other.example")), &jwks(&own));
    assert_eq!(refused(&other, published()).await, NotProven::OtherProducer);
    let unknown = producer(sign(&key("k2"), &manifest("robot.example")), &jwks(&own));
    assert!(matches!(refused(&unknown, published()).await, NotProven::BadManifest(_)));
    let not_one = producer(sign(&own, &json!({ "agent_id": "robot.example" })), &jwks(&own));
    assert!(matches!(refused(&not_one, published()).await, NotProven::BadManifest(_)));
    let mut tampered = own.sign("JWT", &manifest("other.example")).unwrap();
    let swapped = forger.sign("JWT", &manifest("robot.example")).unwrap();
    let signature = tampered.split_off(tampered.rfind('.').unwrap());
    let tampered = format!("{}{signature}", &swapped[..swapped.rfind('.').unwrap()]);
    assert!(matches!(refused(&producer(Some(tampered), &jwks(&own)), published()).await, NotProven::BadManifest(_)));
}

/// AAEP-6.9-03
#[tokio::test]
async fn signed_only_without_keys_to_judge_by_is_refused() {
    let own = key("k1");
    let producer = producer(Some(own.sign("JWT", &manifest("robot.example")).unwrap()), &jwks(&own));
    producer.answers(KEYS, [answer(404, &Value::Null)]);
    assert_eq!(refused(&producer, published()).await, NotProven::KeysRefused(404));
    producer.answers(KEYS, [answer(200, &json!([]))]);
    assert!(matches!(refused(&producer, published()).await, NotProven::BadKeys(_)));
    let pinned = KeySet::parse(jwks(&key("k1")).to_string().as_bytes(), &KeyPolicy::default()).unwrap();
    let pinned = Manifests::SignedOnly(ManifestKeys::Pinned(pinned));
    assert!(matches!(refused(&producer, pinned).await, NotProven::BadManifest(_)));
}

/// AAEP-6.9-03
#[tokio::test]
async fn a_manifest_signed_with_the_origins_own_or_a_pinned_key_proves_the_producer() {
    let own = key("k1");
    let producer = producer(Some(own.sign("JWT", &manifest("robot.example")).unwrap()), &jwks(&own));
    let connected = connect(&producer, published()).await.unwrap();
    assert_eq!(connected.manifest().unwrap().agent_id, "robot.example");
    let asked = producer.received();
    assert_eq!(asked[1].url, format!("{ORIGIN}{KEYS}"));
    assert!(!asked[1].headers.contains_key("authorization"), "keys are there for everybody");
    assert_eq!(producer.bodies("/aaep/v1/subscriptions")[0]["capabilities"]["accept_signed_manifests_only"], true);
    let pinned = KeySet::parse(jwks(&own).to_string().as_bytes(), &KeyPolicy::default()).unwrap();
    producer.answers(KEYS, [answer(404, &Value::Null)]);
    assert!(connect(&producer, Manifests::SignedOnly(ManifestKeys::Pinned(pinned))).await.is_ok());
}

/// AAEP-6.9-03
#[tokio::test]
async fn without_that_demand_an_unsigned_producer_is_connected_to() {
    let unsigned = producer(None, &Value::Null);
    assert!(connect(&unsigned, Manifests::Any).await.unwrap().manifest().is_none());
}
