//! The service's signing keys: rotated without invalidating signatures, shared by all nodes (R-26, AAP 20.2).

use axum::body::Body;
use countersign_engine::{
    Clock, Engine, Entropy, StartError,
    store::{self, PostgresLocation, StoreLocation},
};
use countersign_protocol::time::UnixMillis;
use countersign_server::{App, Limits, Metrics, router};
use countersign_testkit::{Backend, Kit, Plane, Setup, on_both_stores, postgres, send_to};
use http::{Method, Request};
use serde_json::Value;
use std::sync::Arc;

async fn published(plane: &Plane) -> Vec<String> {
    kids(&plane.get("/.well-known/agent-jwks.json").await.expect(200).json())
}

fn kids(jwks: &Value) -> Vec<String> {
    jwks["keys"].as_array().unwrap().iter().map(|key| key["kid"].as_str().unwrap().to_owned()).collect()
}

fn kid_of(jwt: &str) -> String {
    countersign_jose::peek(jwt).unwrap().kid
}

/// Another node on the same store, with a key-encryption key of the test's choice.
async fn start(plane: &Plane, key: &[u8; 32]) -> Result<Arc<Engine>, StartError> {
    let (settings, store) = (plane.engine.settings().clone(), plane.engine.store().clone());
    let clock = Clock::Manual(plane.clock.clone());
    Engine::start(settings, store, clock, Entropy::System, key, Arc::new(plane.directory.clone())).await
}

on_both_stores! {
    ///
    async fn after_a_rotation_both_keys_are_published_and_the_old_ones_tokens_hold(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        let before = plane.connect(&alice, plane.acme(), &["calendar.read"]).await;
        let old = published(&plane).await;
        assert_eq!(old, [kid_of(&before.delegation_token)]);
        let added = plane.engine.rotate_keys().await.unwrap().kid;
        assert_eq!(published(&plane).await, [old[0].clone(), added.clone()]);
        let after = plane.connect(&alice, plane.acme(), &["calendar.read"]).await;
        assert_eq!(kid_of(&after.delegation_token), added);
        for connected in [&before, &after] {
            let agent = plane.register(plane.acme(), connected).await;
            plane.call(&agent, Method::GET, "/calendar/events", "READ_CALENDAR").await.expect(200);
        }
        let revoke = serde_json::json!({ "delegation_id": before.delegation_id });
        alice.post(&plane, "/agent/revoke", &revoke).await.expect(200);
    }

    ///
    async fn the_old_key_is_gone_after_its_time_and_its_tokens_are_none_any_more(kit) {
        let plane = kit.plane_with(Setup::with_project(|project| project.max_duration = "1h".into())).await;
        let alice = plane.person("alice").await;
        let before = plane.connect(&alice, plane.acme(), &["calendar.read"]).await;
        let old = published(&plane).await[0].clone();
        let added = plane.engine.rotate_keys().await.unwrap().kid;
        // Two hours at least (AAP 20.2), and a minute for the other nodes to notice.
        plane.advance_secs(7200 + 59).await;
        plane.engine.run_maintenance().await.unwrap();
        assert_eq!(published(&plane).await, [old.clone(), added.clone()]);
        plane.advance_secs(1).await;
        plane.engine.run_maintenance().await.unwrap();
        assert_eq!(published(&plane).await, [added]);
        let register = plane.post("/agent/register", &plane.register_body(plane.acme(), &before)).await;
        assert_eq!(register.refusal(), (401, "delegation_invalid".into()));
    }

    ///
    async fn another_key_encryption_key_is_refused_at_start_with_words_that_help(kit) {
        let plane = kit.plane().await;
        let why = start(&plane, &[8; 32]).await.err().expect("a refusal").to_string();
        assert!(why.contains("sealed with another key-encryption key"), "{why}");
        assert!(why.contains("give the one they were made with"), "{why}");
        assert!(start(&plane, &[7; 32]).await.is_ok());
        assert_eq!(published(&plane).await.len(), 1, "and no second key was made");
    }

    ///
    async fn a_restart_keeps_the_keys_and_their_tokens(kit) {
        let (place, _folder) = kit.readable_location().await;
        let plane = Plane::start(Setup::default(), place).await;
        let alice = plane.person("alice").await;
        let connected = plane.connect(&alice, plane.acme(), &["calendar.read"]).await;
        let before = published(&plane).await;
        let plane = plane.restart().await;
        assert_eq!(published(&plane).await, before);
        plane.register(plane.acme(), &connected).await;
    }
}

///
#[tokio::test]
async fn nodes_that_start_together_on_an_empty_database_share_one_set_of_keys() {
    // Only for its clock, its operators and its settings.
    let model = Kit(Backend::Sqlite).plane().await;
    let place = StoreLocation::Postgres(PostgresLocation::new(postgres::fresh_database().await));
    let node = |seed: u64| {
        let (place, model) = (place.clone(), &model);
        async move {
            let clock: store::StoreClock = Arc::new(|| UnixMillis::from_secs(1_800_000_000));
            let store = store::open(store::StoreOptions { readers: 8, place, clock }).await.unwrap();
            let settings = model.engine.settings().clone();
            let operators = Arc::new(model.directory.clone());
            let engine = Engine::start(settings, store, Clock::System, Entropy::seeded(seed), &[7; 32], operators);
            router(App::new(engine.await.unwrap(), Limits::default(), Vec::new(), Metrics::default(), seed))
        }
    };
    let (one, two, three, four) = tokio::join!(node(1), node(2), node(3), node(4));
    let mut seen = Vec::new();
    for node in [one, two, three, four] {
        let request = Request::get("/.well-known/agent-jwks.json").body(Body::empty()).unwrap();
        seen.push(kids(&send_to(&node, request).await.expect(200).json()));
    }
    assert_eq!(seen[0].len(), 1);
    assert!(seen.iter().all(|kids| *kids == seen[0]), "{seen:?}");
}

/// each node accepts the other's signatures and form tokens.
#[tokio::test]
async fn two_nodes_believe_each_others_tokens_and_each_others_forms_also_after_a_rotation() {
    let plane = Kit(Backend::Postgres).plane().await;
    let (engine, second) = plane.second_node().await;
    let alice = plane.person("alice").await;
    let before = plane.connect(&alice, plane.acme(), &["calendar.read"]).await;
    engine.rotate_keys().await.unwrap();
    // This node has not noticed yet and signs with the old key; the other accepts both.
    let after = plane.connect(&alice, plane.acme(), &["calendar.read"]).await;
    for connected in [&before, &after] {
        let body = plane.register_body(plane.acme(), connected).to_string();
        let request = countersign_testkit::agent_request(Method::POST, "/agent/register");
        send_to(&second, request.body(Body::from(body)).unwrap()).await.expect(200);
    }
    plane.engine.run_maintenance().await.unwrap();
    assert_eq!(published(&plane).await.len(), 2);
    let request = Request::get("/.well-known/agent-jwks.json").body(Body::empty()).unwrap();
    assert_eq!(kids(&send_to(&second, request).await.json()), published(&plane).await);
}
