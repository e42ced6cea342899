//! Binding a token to a key when registering: one key a session, one session a key (AAP 18.1).

use super::proofs::*;
use crate::register::support::{claims_of, told, with};
use axum::body::Body;
use countersign_engine::store::Lookup;
use countersign_jose::SigningKey;
use countersign_protocol::hash::Digest;
use countersign_testkit::{
    Answer, Connected, Plane, agent_request,
    bank::{BankScene, SCOPES, Sent},
    on_both_stores,
};
use futures_util::future::join_all;
use http::Method;
use serde_json::{Value, json};

/// Ten minutes after the start, with nonces demanded nowhere.
async fn scene(kit: countersign_testkit::Kit) -> BankScene {
    let scene = kit.bank_with(without_nonces).await;
    scene.plane.advance_secs(EPOCH_OVER_S).await;
    scene
}

fn proof(plane: &Plane, key: &SigningKey) -> String {
    let url = format!("{}/agent/register", plane.service());
    let claims = json!({ "jti": fresh(), "htm": "POST", "htu": url, "iat": plane.now().secs() });
    key.sign_with_header(&header_of(key), &claims).unwrap()
}

async fn register(plane: &Plane, body: &Value, proof: Option<&str>) -> Answer {
    let mut request = agent_request(Method::POST, "/agent/register");
    if let Some(proof) = proof {
        request = request.header("dpop", proof);
    }
    plane.send(request.body(Body::from(body.to_string())).unwrap()).await
}

fn body(scene: &BankScene) -> Value {
    scene.plane.register_body(scene.plane.acme(), &scene.connected)
}

/// The key that a token is bound to, as it is stored.
async fn stored_jkt(plane: &Plane, answer: &Value) -> Value {
    let token = answer["access_token"].as_str().unwrap();
    let row = plane.engine.store().find(Lookup::AccessTokenByHash(Digest::of(token.as_bytes()))).await.unwrap();
    serde_json::from_str::<Value>(&row.unwrap()).unwrap()["jkt"].clone()
}

/// The lines about shared keys in the audit of a delegation, as its person reads it.
async fn flags(scene: &BankScene, person: &countersign_testkit::TestPerson, connected: &Connected) -> usize {
    let query = format!("/agent/audit?delegation_id={}&event_type=dpop_key_shared", connected.delegation_id);
    person.get(&scene.plane, &query).await.expect(200).json()["entries"].as_array().unwrap().len()
}

on_both_stores! {
    /// AAP-13.1-01, AAP-13.1-03, AAP-18.3-02
    async fn a_proof_that_comes_with_a_registration_binds_the_token_to_its_key(kit) {
        let scene = scene(kit).await;
        let plane = &scene.plane;
        let key = SigningKey::generate(None).unwrap();
        let shown = proof(plane, &key);
        assert_eq!(claims_of(&shown).get("ath"), None);
        let bound = register(plane, &body(&scene), Some(&shown)).await.expect(200).json();
        assert_eq!(bound["token_type"], "DPoP");
        assert_eq!(stored_jkt(plane, &bound).await, json!(Digest::from_base64url(&key.thumbprint()).unwrap()));
        let calls = Sent::new("GET", "/accounts").with("aap-version", "2.0").with("x-agent-mode", "user_delegated");
        for scheme in ["DPoP", "Bearer"] {
            let authorization = format!("{scheme} {}", bound["access_token"].as_str().unwrap());
            let answer = scene.once(calls.clone().with("authorization", &authorization)).await;
            assert_eq!(answer.refusal(), told(401, "dpop_missing"));
        }
        let free = register(plane, &body(&scene), None).await.expect(200).json();
        assert_eq!((&free["token_type"], stored_jkt(plane, &free).await), (&json!("Bearer"), Value::Null));
        let authorization = format!("Bearer {}", free["access_token"].as_str().unwrap());
        let intent = ("x-agent-intent-type", "READ_ACCOUNTS");
        scene.once(calls.with("authorization", &authorization).with(intent.0, intent.1)).await.expect(200);
    }

    /// AAP-16.2-13, AAP-18.2-01
    async fn where_tokens_must_be_bound_there_is_none_without_a_proof(kit) {
        let required: [fn(&mut countersign_protocol::project::ProjectDocument); 2] =
            [|document| document.dpop.required = true, |document| document.minimum_tier = 3];
        for change in required {
            let scene = scene(kit).await;
            let free = scene.plane.holder_with(&body(&scene), None, &scene.connected).await;
            let mut document = scene.plane.at().await.project.document;
            change(&mut document);
            scene.plane.engine.apply_project(document, "test").await.unwrap();
            let answer = register(&scene.plane, &body(&scene), None).await;
            assert_refused(&answer, "dpop_missing", "no proof");
            // A token from before, that is bound to nothing, does not do any more.
            let read = scene.sends_as(&free, Sent::new("GET", "/accounts")).await;
            assert_refused(&read, "dpop_missing", "a token that is bound to nothing");
            assert_eq!(scene.bank.got().len(), 0);
        }
    }

    /// AAP-18.1-01
    async fn a_key_is_good_for_one_session_and_a_session_keeps_its_key(kit) {
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
