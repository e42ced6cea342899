//! An operator's key that left its key set ends the sessions it opened; the delegation stays (C-88).

use countersign_jose::SigningKey;
use countersign_testkit::{AgentFixture, Answer, Setup, on_sqlite};
use serde_json::json;

/// Tokens that outlive the hour after which a key is fetched again.
fn long_lived() -> Setup {
    Setup::with_project(|document| (document.credential_ttl, document.max_agent_ttl) = (14_400, 14_400))
}

const BOTH: &[&str] = &["calendar.read", "calendar.write"];

async fn register_with_key(scene: &AgentFixture, key: &SigningKey) -> Answer {
    let acme = scene.plane.acme();
    let claims = acme.claims(scene.plane.service(), scene.plane.now());
    let mut body = scene.plane.register_body(acme, &scene.connected);
    body["operator_jwt"] = json!(key.sign("aap-operator+jwt", &claims).unwrap());
    body["session_id"] = json!(scene.agent.session_id);
    scene.plane.post("/agent/register", &body).await
}

on_sqlite! {
    /// AAP-8.2-03, AAP-8.1-03, C-88
    async fn a_withdrawn_key_opens_nothing_and_ends_its_sessions(kit) {
        let scene = kit.fixture_with(long_lived(), BOTH).await;
        let plane = &scene.plane;
        let new = SigningKey::generate(Some("key-2")).unwrap();
        plane.acme().publish(&[&new]);
        plane.advance_secs(3600).await;
        scene.read().await.expect(200);
        plane.advance_secs(1).await;
        let old = register_with_key(&scene, &plane.acme().key).await;
        assert_eq!(old.refusal(), (401, "operator_not_found".into()));
        let reached = scene.reached();
        for answer in [scene.write().await, scene.read().await] {
            assert_eq!(answer.refusal(), (401, "operator_jwt_invalid".into()));
            assert_eq!(answer.header("x-agent-revoke-reason"), Some("key_rotation"));
        }
        assert_eq!(scene.reached(), reached);
        assert_eq!(scene.audit("event_type=operator_key_withdrawn").await["total_count"], 1);
        // The delegation stays: the same session continues under the new key, without the person.
        let answer = register_with_key(&scene, &new).await.expect(200).json();
        let agent = countersign_testkit::Registered {
            access_token: answer["access_token"].as_str().unwrap().into(),
            ..scene.agent.clone()
        };
        plane.call(&agent, http::Method::GET, "/calendar/events", "READ_CALENDAR").await.expect(200);
        assert_eq!(scene.read().await.refusal(), (401, "access_token_invalid".into()), "the old key's token stays over");
        assert_eq!(scene.audit("event_type=delegation_revoked").await["total_count"], 0);
    }

    /// AAP-8.2-03, C-88
    async fn a_key_that_is_still_published_keeps_its_sessions(kit) {
        let scene = kit.fixture_with(long_lived(), BOTH).await;
        let new = SigningKey::generate(Some("key-2")).unwrap();
        scene.plane.acme().publish(&[&scene.plane.acme().key, &new]);
        let fetched = scene.plane.acme().host.fetches().len();
        scene.plane.advance_secs(3601).await;
        for _ in 0..3 {
            scene.read().await.expect(200);
            scene.write().await.expect(201);
        }
        assert_eq!(scene.plane.acme().host.fetches().len(), fetched + 2, "manifest and keys, once");
    }

    /// AAP-8.2-03, R-28
    async fn a_key_that_nobody_can_look_up_is_not_believed_and_the_refusal_is_on_record(kit) {
        let scene = kit.fixture_with(long_lived(), BOTH).await;
        scene.plane.acme().host.go_offline();
        scene.plane.advance_secs(3601).await;
        for answer in [scene.read().await, scene.write().await] {
            assert_eq!(answer.refusal(), (401, "operator_not_found".into()));
        }
        assert_eq!(scene.reached(), 0);
        let outcomes: Vec<_> = scene.calls().await.iter().map(|entry| entry["outcome"].clone()).collect();
        assert_eq!(outcomes, ["401 operator_not_found"; 2]);
        // An earlier fault in the order is still reported first.
        use countersign_testkit::Altered as _;
        let call = scene.agent.request(http::Method::GET, "/calendar/events", "READ_CALENDAR");
        let answer = scene.plane.try_call(call.without("x-agent-mode")).await;
        assert_eq!(answer.refusal(), (400, "mode_missing".into()));
        scene.plane.acme().host.recover();
        scene.plane.advance_secs(61).await;
        scene.read().await.expect(200);
    }
}
