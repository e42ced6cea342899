//! TV-F-06: a proof with a reused `jti`, at register and at a service behind the gateway.

use super::{World, published_key, setup};
use crate::register::support::{told, with};
use axum::body::Body;
use countersign_jose::{ProofKey, SigningKey};
use countersign_protocol::{project::ProjectDocument, time::UnixMillis};
use countersign_testkit::{
    Answer, Backend, Kit, Plane, Setup, agent_request,
    bank::{BankFixture, GATEWAY, GatewayRequest, Holder},
    calendar, on_both_stores,
};
use http::Method;
use serde_json::{Value, json};
use std::net::SocketAddr;

/// After this time a proof needs no nonce where none is configured (R-22).
const EPOCH_OVER_S: i64 = 601;

fn without_nonces(document: &mut ProjectDocument) {
    document.dpop.nonce_at_register = false;
}

fn proof_key(key: &SigningKey) -> ProofKey {
    ProofKey::from_pkcs8(&key.to_pkcs8()).unwrap()
}

/// The service of the vectors, with nonces off so that only the `jti` can invalidate a proof.
async fn world(kit: Kit) -> World {
    let mut document = calendar("calendar");
    without_nonces(&mut document);
    let world = World::on(kit.plane_with(Setup { projects: vec![document], ..setup(true) }).await).await;
    world.plane.advance_secs(EPOCH_OVER_S).await;
    world
}

async fn register(plane: &Plane, body: &Value, proof: &str) -> Answer {
    let request = agent_request(Method::POST, "/agent/register").header("dpop", proof);
    plane.send(request.body(Body::from(body.to_string())).unwrap()).await
}

/// Sends a note with this proof.
async fn notes(scene: &BankFixture, node: SocketAddr, agent: &Holder, proof: &str) -> Answer {
    let sent = GatewayRequest::new("POST", "/notes")
        .json(r#"{"text":"hello"}"#)
        .with("aap-version", "2.0")
        .of_session(agent)
        .with("x-agent-intent-type", "NOTE")
        .with("authorization", &agent.authorization());
    scene.sends_raw_at(node, sent.with("dpop", proof)).await
}

fn proof_of(agent: &Holder, jti: &str, at: UnixMillis) -> String {
    agent.proof_named(jti, "POST", &format!("{GATEWAY}/notes"), at).unwrap()
}

async fn bank(kit: Kit) -> BankFixture {
    let scene = kit.bank_with(without_nonces).await;
    scene.plane.advance_secs(EPOCH_OVER_S).await;
    scene
}

on_both_stores! {
    /// AAP-23-10
    async fn at_register_a_proof_is_a_replay_for_as_long_as_it_would_be_good(kit) {
        let world = world(kit).await;
        let key = proof_key(&published_key());
        let url = format!("{}/agent/register", world.plane.service());
        let ahead = world.plane.now().plus_secs(300);
        let proof = key.proof("POST", &url, None, None, "TV-F-06", ahead).unwrap();
        let body = world.body();
        register(&world.plane, &body, &proof).await.expect(200);
        for wait_s in [0, 299, 300] {
            world.plane.advance_secs(wait_s).await;
            world.plane.engine.run_maintenance().await.unwrap();
            assert_eq!(register(&world.plane, &body, &proof).await.refusal(), told(401, "dpop_replayed"), "{wait_s}");
        }
        let other = ProofKey::generate().unwrap();
        let same_jti = other.proof("POST", &url, None, None, "TV-F-06", world.plane.now()).unwrap();
        let own_session = with(body, "consent_receipt", Value::Null);
        register(&world.plane, &own_session, &same_jti).await.expect(200);
    }

    /// AAP-23-10
    async fn at_the_gateway_a_proof_is_a_replay_for_as_long_as_it_would_be_good(kit) {
        let scene = bank(kit).await;
        let node = scene.gateway.address;
        let proof = proof_of(&scene.agent, "TV-F-06", scene.plane.now().plus_secs(300));
        notes(&scene, node, &scene.agent, &proof).await.expect(201);
        for wait_s in [0, 299, 300] {
            scene.plane.advance_secs(wait_s).await;
            scene.plane.engine.run_maintenance().await.unwrap();
            let again = notes(&scene, node, &scene.agent, &proof).await;
            assert_eq!(again.refusal(), told(401, "dpop_replayed"), "{wait_s}");
        }
        scene.plane.advance_secs(2).await;
        assert_eq!(notes(&scene, node, &scene.agent, &proof).await.refusal(), told(401, "dpop_invalid"), "too old");
        let other = scene.another(|_| {}).await;
        let same_jti = proof_of(&other, "TV-F-06", scene.plane.now());
        notes(&scene, node, &other, &same_jti).await.expect(201);
        assert_eq!(scene.bank.effects().len(), 2);
    }
}

/// AAP-23-10
#[tokio::test]
async fn its_answer_names_the_error_and_the_remedy() {
    let world = world(Kit(Backend::Sqlite)).await;
    let url = format!("{}/agent/register", world.plane.service());
    let key = proof_key(&published_key());
    let proof = key.proof("POST", &url, None, None, "TV-F-06", world.plane.now()).unwrap();
    register(&world.plane, &world.body(), &proof).await.expect(200);
    let answer = register(&world.plane, &world.body(), &proof).await;
    assert_eq!(answer.header("www-authenticate"), Some(r#"DPoP error="invalid_dpop_proof", algs="ES256 PS256""#));
    assert!(answer.json()["hint"].as_str().unwrap().contains("jti"));
    assert_eq!(json!(answer.header("dpop-nonce")), Value::Null);
}
