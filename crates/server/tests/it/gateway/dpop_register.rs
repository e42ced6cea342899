//! Binding a token to a key at registration: one key a session, one session a key (AAP 18.1).

use super::proofs::*;
use crate::register::support::{claims_of, told, with};
use axum::body::Body;
use countersign_engine::store::{self, AccessTokenByHash};
use countersign_jose::SigningKey;
use countersign_protocol::hash::Digest;
use countersign_testkit::{
    Answer, Connected, Plane, agent_request,
    bank::{BankFixture, GATEWAY, GatewayRequest, SCOPES},
    on_sqlite,
};
use futures_util::future::join_all;
use http::Method;
use serde_json::{Value, json};

/// Ten minutes after the start, without nonces.
async fn scene(kit: countersign_testkit::Kit) -> BankFixture {
    let scene = kit.bank_with(without_nonces).await;
    scene.plane.advance_secs(EPOCH_OVER_S).await;
    scene
}

fn proof(plane: &Plane, key: &SigningKey) -> String {
    let url = format!("{}/agent/register", plane.service());
    let claims = json!({ "jti": fresh(), "htm": "POST", "htu": url, "iat": plane.now().secs() });
    key.sign_with_header(&header_of(key), &claims).unwrap()
}

/// A proof for reading the accounts at the gateway.
fn call_proof(plane: &Plane, key: &SigningKey, token: &str) -> String {
    let ath = Digest::of(token.as_bytes()).base64url();
    let url = format!("{GATEWAY}/accounts");
    let claims = json!({ "jti": fresh(), "htm": "GET", "htu": url, "iat": plane.now().secs(), "ath": ath });
    key.sign_with_header(&header_of(key), &claims).unwrap()
}

async fn register(plane: &Plane, body: &Value, proof: Option<&str>) -> Answer {
    let mut request = agent_request(Method::POST, "/agent/register");
    if let Some(proof) = proof {
        request = request.header("dpop", proof);
    }
    plane.send(request.body(Body::from(body.to_string())).unwrap()).await
}

fn body(scene: &BankFixture) -> Value {
    scene.plane.register_body(scene.plane.acme(), &scene.connected)
}

/// The stored thumbprint of the key that a token is bound to.
async fn stored_jkt(plane: &Plane, answer: &Value) -> Value {
    let token = answer["access_token"].as_str().unwrap();
    let lookup = AccessTokenByHash(Digest::of(token.as_bytes()));
    json!(store::find_one(&**plane.engine.store(), lookup).await.unwrap().unwrap().jkt)
}

/// The entries about shared keys in a delegation's audit, as its person reads it.
async fn flags(scene: &BankFixture, person: &countersign_testkit::TestPerson, connected: &Connected) -> usize {
    let query = format!("/agent/audit?delegation_id={}&event_type=dpop_key_shared", connected.delegation_id);
    person.get(&scene.plane, &query).await.expect(200).json()["entries"].as_array().unwrap().len()
}

on_sqlite! {
    /// AAP-13.1-01, AAP-13.1-03, AAP-18.3-02, AAP-G-01
    async fn a_proof_that_comes_with_a_registration_binds_the_token_to_its_key(kit) {
        let scene = scene(kit).await;
        let plane = &scene.plane;
        let key = SigningKey::generate(None).unwrap();
        let shown = proof(plane, &key);
        assert_eq!(claims_of(&shown).get("ath"), None);
        let bound = register(plane, &body(&scene), Some(&shown)).await.expect(200).json();
        assert_eq!(bound["token_type"], "DPoP");
        assert_eq!(stored_jkt(plane, &bound).await, json!(Digest::from_base64url(&key.thumbprint()).unwrap()));
        let calls = GatewayRequest::new("GET", "/accounts").with("aap-version", "2.0").with("x-agent-mode", "user_delegated");
        for scheme in ["DPoP", "Bearer"] {
            let authorization = format!("{scheme} {}", bound["access_token"].as_str().unwrap());
            let answer = scene.sends_raw(calls.clone().with("authorization", &authorization)).await;
            assert_eq!(answer.refusal(), told(401, "dpop_missing"));
        }
        let free = register(plane, &body(&scene), None).await.expect(200).json();
        assert_eq!((&free["token_type"], stored_jkt(plane, &free).await), (&json!("Bearer"), Value::Null));
        let call = calls
            .with("authorization", &format!("Bearer {}", free["access_token"].as_str().unwrap()))
            .with("x-agent-delegation", &scene.connected.delegation_id)
            .with("x-agent-session", free["session_id"].as_str().unwrap())
            .with("x-agent-intent-type", "READ_ACCOUNTS");
        scene.sends_raw(call).await.expect(200);
    }

    /// AAP-13.1-06, AAP-16.2-13, AAP-18.2-01
    async fn where_tokens_must_be_bound_it_is_announced_and_there_is_none_without_a_proof(kit) {
        let required: [fn(&mut countersign_protocol::project::ProjectDocument); 3] = [
            |document| document.dpop.required = true,
            |document| document.minimum_tier = 3,
            |document| document.routes.iter_mut().find(|r| r.id == "notes").unwrap().minimum_tier = Some(3),
        ];
        for change in required {
            let scene = scene(kit).await;
            let free = scene.plane.holder_with(&body(&scene), None, &scene.connected).await;
            let mut document = (*scene.plane.at().await.project.document).clone();
            change(&mut document);
            let announced = async || scene.plane.get("/.well-known/agent-auth.json").await.json()["dpop_required"].clone();
            assert_eq!(announced().await, Value::Null);
            scene.plane.engine.apply_project(document, "test").await.unwrap();
            assert_eq!(announced().await, true);
            let answer = register(&scene.plane, &body(&scene), None).await;
            assert_refused(&answer, "dpop_missing", "no proof");
            // An earlier, unbound token is no longer accepted.
            let read = scene.sends_as(&free, GatewayRequest::new("GET", "/accounts")).await;
            assert_refused(&read, "dpop_missing", "a token that is bound to nothing");
            assert_eq!(scene.bank.got().len(), 0);
        }
    }

    /// AAP-18.1-01
    async fn a_key_is_good_for_one_session_and_a_session_without_a_receipt_keeps_its_key(kit) {
        let scene = scene(kit).await;
        let plane = &scene.plane;
        let key = SigningKey::generate(None).unwrap();
        let first = register(plane, &body(&scene), Some(&proof(plane, &key))).await.expect(200).json();
        let other_session = register(plane, &body(&scene), Some(&proof(plane, &key))).await;
        assert_refused(&other_session, "dpop_invalid", "the key of another session");
        let same = with(body(&scene), "session_id", first["session_id"].clone());
        let again = register(plane, &same, Some(&proof(plane, &key))).await.expect(200).json();
        assert_eq!(again["session_id"], first["session_id"]);
        let another = SigningKey::generate(None).unwrap();
        let swapped = register(plane, &same, Some(&proof(plane, &another))).await;
        assert_refused(&swapped, "dpop_invalid", "another key for the session");
        assert_refused(&register(plane, &same, None).await, "dpop_missing", "shaking the key off");
        assert_eq!(flags(&scene, &scene.alice, &scene.connected).await, 0, "it was one person all along");
    }

    /// AAP-18.1-02
    async fn a_key_of_another_persons_session_is_refused_and_flagged_in_that_ones_audit(kit) {
        let scene = scene(kit).await;
        let plane = &scene.plane;
        let bob = plane.person("bob").await;
        let bobs = plane.connect(&bob, plane.acme(), SCOPES).await;
        let key = SigningKey::generate(None).unwrap();
        register(plane, &body(&scene), Some(&proof(plane, &key))).await.expect(200);
        let for_bob = plane.register_body(plane.acme(), &bobs);
        let shared = register(plane, &for_bob, Some(&proof(plane, &key))).await;
        assert_refused(&shared, "dpop_invalid", "the key of a session of alice");
        assert_eq!(flags(&scene, &scene.alice, &scene.connected).await, 1);
        assert_eq!(flags(&scene, &bob, &bobs).await, 0);
        register(plane, &for_bob, Some(&proof(plane, &SigningKey::generate(None).unwrap()))).await.expect(200);
    }

    /// AAP-12.1-03, AAP-17.1-13, AAP-18.1-01
    async fn agents_of_one_operator_work_under_one_receipt_each_with_a_key_of_its_own(kit) {
        let scene = scene(kit).await;
        let plane = &scene.plane;
        let claims = plane.receipt_claims(plane.acme(), "alice", &scene.connected, SCOPES);
        let body = with(body(&scene), "consent_receipt", json!(plane.acme().sign_receipt(&claims)));
        let keys = [SigningKey::generate(None).unwrap(), SigningKey::generate(None).unwrap()];
        let mut agents = Vec::new();
        for key in &keys {
            let answer = register(plane, &body, Some(&proof(plane, key))).await.expect(200).json();
            assert_eq!((&answer["session_id"], &answer["token_type"]), (&claims["session_id"], &json!("DPoP")));
            let jkt = json!(Digest::from_base64url(&key.thumbprint()).unwrap());
            assert_eq!(stored_jkt(plane, &answer).await, jkt);
            agents.push(answer["access_token"].as_str().unwrap().to_owned());
        }
        let read = async |token: &str, key: &SigningKey| {
            let read = GatewayRequest::new("GET", "/accounts").with("aap-version", "2.0").with("x-agent-mode", "user_delegated");
            let read = read.with("x-agent-intent-type", "READ_ACCOUNTS").with("authorization", &format!("DPoP {token}"));
            let read = read.with("x-agent-delegation", &scene.connected.delegation_id);
            let read = read.with("x-agent-session", claims["session_id"].as_str().unwrap());
            scene.sends_raw(read.with("dpop", &call_proof(plane, key, token))).await
        };
        // Both act, and each token is refused with the other's key.
        for (mine, other) in [(0, 1), (1, 0)] {
            read(&agents[mine], &keys[mine]).await.expect(200);
            assert_eq!(read(&agents[mine], &keys[other]).await.refusal(), told(401, "dpop_invalid"));
        }
        // A key that is already in the session is not added again; of nine tokens the oldest is gone.
        for _ in 0..7 {
            register(plane, &body, Some(&proof(plane, &keys[1]))).await.expect(200);
        }
        assert_eq!(read(&agents[0], &keys[0]).await.refusal(), told(401, "access_token_invalid"));
        read(&agents[1], &keys[1]).await.expect(200);

        let query = format!("/agent/audit?session_id={}", claims["session_id"].as_str().unwrap());
        let page = scene.alice.get(plane, &query).await.expect(200).json();
        let entries = page["entries"].as_array().unwrap();
        let of = |kind: &str| entries.iter().filter(|entry| entry["event_type"] == kind).collect::<Vec<_>>();
        let (started, added) = (of("session_started"), of("session_key_added"));
        assert_eq!((started.len(), added.len()), (1, 1), "{page:#}");
        assert_eq!((&started[0]["jkt"], &added[0]["jkt"]), (&json!(keys[0].thumbprint()), &json!(keys[1].thumbprint())));
        assert_eq!(of("call").iter().filter(|entry| entry["outcome"] == "200 OK").count(), 3);

        // Without the receipt no agent joins, and a key of this session is accepted in no other.
        let bare = with(with(body, "consent_receipt", Value::Null), "session_id", claims["session_id"].clone());
        let third = SigningKey::generate(None).unwrap();
        assert_refused(&register(plane, &bare, Some(&proof(plane, &third))).await, "dpop_invalid", "no receipt");
        let elsewhere = register(plane, &self::body(&scene), Some(&proof(plane, &keys[1]))).await;
        assert_refused(&elsewhere, "dpop_invalid", "the second key of another session");
    }

    /// AAP-23-10, C-93
    async fn a_proof_that_was_shown_before_is_a_replay_before_any_other_refusal_of_the_registration(kit) {
        let scene = scene(kit).await;
        let plane = &scene.plane;
        let key = SigningKey::generate(None).unwrap();
        let shown = proof(plane, &key);
        register(plane, &body(&scene), Some(&shown)).await.expect(200);
        // The key belongs to another session by now, and yet the refusal names the replay.
        let again = register(plane, &body(&scene), Some(&shown)).await;
        assert_eq!(again.refusal(), told(401, "dpop_replayed"));
        // A refused registration has used its proof.
        let refused = proof(plane, &SigningKey::generate(None).unwrap());
        let wrong = with(body(&scene), "acting_for", json!("bob"));
        assert_eq!(register(plane, &wrong, Some(&refused)).await.refusal(), told(401, "delegation_mismatch"));
        assert_eq!(register(plane, &body(&scene), Some(&refused)).await.refusal(), told(401, "dpop_replayed"));
    }

    /// AAP-18.1-01
    async fn of_many_registrations_with_one_key_at_once_one_opens_a_session(kit) {
        let scene = scene(kit).await;
        let key = SigningKey::generate(None).unwrap();
        let body = body(&scene);
        let shown: Vec<String> = (0..12).map(|_| proof(&scene.plane, &key)).collect();
        let answers = join_all(shown.iter().map(|proof| register(&scene.plane, &body, Some(proof)))).await;
        let (opened, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 200);
        assert_eq!(opened.len(), 1);
        assert!(refused.iter().all(|answer| answer.refusal() == told(401, "dpop_invalid")));
    }
}
