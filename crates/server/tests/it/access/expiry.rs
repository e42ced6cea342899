//! The end of access by expiry, to the second, and its renewal.

use countersign_testkit::{AgentFixture, Setup, on_sqlite};
use http::Method;
use serde_json::{Value, json};

on_sqlite! {
    /// AAP-8-01, AAP-8.1-01
    async fn an_access_token_lives_as_long_as_the_manifest_says_to_the_second(kit) {
        let scene = kit.fixture().await;
        let manifest = scene.plane.get("/.well-known/agent-auth.json").await.expect(200).json();
        assert_eq!((&manifest["credential_ttl"], &scene.agent.answer["expires_in"]), (&json!(3600), &json!(3600)));
        scene.plane.advance_secs(3599).await;
        scene.read().await.expect(200);
        scene.plane.advance_secs(1).await;
        for answer in [scene.read().await, scene.write().await] {
            assert_eq!(answer.refusal(), (401, "access_token_expired".into()));
        }
        assert_eq!(scene.reached(), 1);
    }

    /// AAP-7-07, AAP-16.2-02, AAP-17.1-11
    async fn an_expired_token_is_renewed_without_the_person(kit) {
        let scene = kit.fixture().await;
        let (body, _) = scene.receipt_body(&["calendar.read"], |_| ());
        let first = scene.plane.register_with(&body, Some(&scene.connected)).await;
        let people = async || scene.audit("").await["total_count"].clone();
        let before = people().await;
        scene.plane.advance_secs(3600).await;
        let call = scene.plane.call(&first, Method::GET, "/calendar/events", "READ_CALENDAR").await;
        assert_eq!(call.refusal(), (401, "access_token_expired".into()));

        let answer = scene.plane.post("/agent/register", &body).await;
        assert_eq!(answer.refusal(), (401, "operator_jwt_expired".into()));
        let mut renewed = body.clone();
        renewed["operator_jwt"] = json!(scene.plane.acme().jwt(scene.plane.service(), scene.plane.now()));
        let second = scene.plane.register_with(&renewed, Some(&scene.connected)).await;
        assert_eq!(second.session_id, first.session_id);
        assert_ne!(second.access_token, first.access_token);
        assert_eq!(people().await, before, "nothing new was asked or started");
        scene.plane.call(&second, Method::GET, "/calendar/events", "READ_CALENDAR").await.expect(200);
    }

    /// AAP-16.2-06, C-92
    async fn a_delegation_tokens_own_end_is_refused_as_expiry(kit) {
        let setup = Setup::with_project(|document| {
            document.token_duration = Some("1h".into());
            (document.credential_ttl, document.max_agent_ttl) = (7200, 7200);
        });
        let scene = kit.fixture_with(setup, &["calendar.read", "calendar.write"]).await;
        scene.plane.advance_secs(3900).await;
        scene.read().await.expect(200);
        register(&scene).await.expect(200);
        scene.plane.advance_secs(1).await;
        for answer in [scene.read().await, scene.write().await, register(&scene).await] {
            assert_eq!(answer.refusal(), (401, "delegation_expired".into()));
            assert_eq!(answer.header("x-agent-revoke-reason"), None);
        }
        assert_eq!(scene.reached(), 1);
    }

    /// AAP-16.2-06, C-92
    async fn a_policys_end_is_exact_and_refused_as_a_revocation(kit) {
        let setup = Setup::with_project(|document| document.max_duration = "2h".into());
        let scene = kit.fixture_with(setup, &["calendar.read"]).await;
        let policy = &scene.agent.answer["effective_policy"];
        assert_eq!(policy["expires_at"], scene.plane.now().plus_secs(7200).to_rfc3339());
        scene.plane.advance_secs(7199).await;
        let agent = scene.plane.register(scene.plane.acme(), &scene.connected).await;
        assert_eq!(agent.answer["expires_in"], 3600, "the token outlives the delegation, so that calls learn the reason");
        let call = async || scene.plane.call(&agent, Method::GET, "/calendar/events", "READ_CALENDAR").await;
        call().await.expect(200);
        scene.plane.advance_secs(1).await;
        for answer in [register(&scene).await, call().await] {
            assert_eq!(answer.refusal(), (401, "auto_revoked".into()));
            assert_eq!(answer.header("x-agent-revoke-reason"), Some("policy_expired"));
        }
        assert_eq!(scene.reached(), 1);
    }

    /// AAP-17.8-06, AAP-8.3-01
    async fn the_end_of_a_delegation_is_in_the_audit_once_though_nobody_calls(kit) {
        let setup = Setup::with_project(|document| document.max_duration = "2h".into());
        let scene = kit.fixture_with(setup, &["calendar.read"]).await;
        let ended = scene.plane.now().plus_secs(7200);
        let revoked = scene.plane.connect(&scene.alice, scene.plane.acme(), &["calendar.read"]).await;
        let body = json!({ "delegation_id": revoked.delegation_id });
        scene.alice.post(&scene.plane, "/agent/revoke", &body).await.expect(200);
        scene.plane.advance_secs(7199).await;
        assert_eq!(revocations(&scene).await, Vec::<Value>::new());
        scene.plane.advance_secs(1).await;
        scene.plane.advance_secs(60).await;
        let entries = revocations(&scene).await;
        assert_eq!(entries.len(), 1, "{entries:#?}");
        let entry = &entries[0];
        assert_eq!(entry["timestamp"], ended.to_rfc3339());
        assert_eq!((&entry["by"], &entry["reason"]), (&json!("service"), &json!("policy_expired")));
        assert_eq!((&entry["operator"], &entry["acting_for"]), (&json!("acme.test"), &json!("alice")));
        // The delegation that alice revoked did not expire.
        let query = format!("/agent/audit?delegation_id={}&event_type=auto_revoked", revoked.delegation_id);
        assert_eq!(scene.alice.get(&scene.plane, &query).await.expect(200).json()["total_count"], 0);
        // A later revocation is no second end.
        scene.revoke().await.expect(200);
        assert_eq!((revocations(&scene).await.len(), scene.audit("event_type=delegation_revoked").await["total_count"].clone()), (1, json!(0)));
    }

    /// AAP-17.8-06, R-21
    async fn an_end_that_came_while_nothing_was_running_is_recorded_after_the_start(kit) {
        let (plane, _folder) = kit.lasting_plane(Setup::with_project(|document| document.max_duration = "2h".into())).await;
        let scene = AgentFixture::on(plane, &["calendar.read"]).await;
        let AgentFixture { plane, alice, connected, agent } = scene;
        plane.advance_without_settling(100_000).await;
        let scene = AgentFixture { plane: plane.restart().await, alice, connected, agent };
        let alice = countersign_testkit::TestPerson::sign_in(&scene.plane, "alice").await;
        let scene = AgentFixture { alice, ..scene };
        assert_eq!(revocations(&scene).await.len(), 0);
        scene.plane.advance_secs(1).await;
        assert_eq!(revocations(&scene).await.len(), 1);
    }

    /// AAP-12.2-01, C-83
    async fn a_live_token_is_refused_with_consent_expired(kit) {
        let scene = kit.fixture().await;
        let ends = scene.plane.now().secs() + 600;
        let (body, _) = scene.receipt_body(&["calendar.read"], |claims| claims["exp"] = json!(ends));
        let agent = scene.plane.register_with(&body, Some(&scene.connected)).await;
        assert_eq!(agent.answer["expires_in"], 3600);
        let call = async || scene.plane.call(&agent, Method::GET, "/calendar/events", "READ_CALENDAR").await;
        let cancel = async || {
            let request = agent.request(Method::POST, "/agent/cancel", "READ_CALENDAR");
            scene.plane.send(request.body(json!({ "session_id": agent.session_id }).to_string().into()).unwrap()).await
        };
        scene.plane.advance_secs(900).await;
        call().await.expect(200);
        scene.plane.advance_secs(1).await;
        let again = with_fresh_jwt(&scene, body);
        for answer in [call().await, scene.plane.post("/agent/register", &again).await, cancel().await] {
            assert_eq!(answer.refusal(), (401, "consent_expired".into()));
        }
        assert_eq!(scene.reached(), 1);
    }
}

/// The audit entries of expired delegations.
async fn revocations(scene: &AgentFixture) -> Vec<Value> {
    scene.audit("event_type=auto_revoked").await["entries"].as_array().unwrap().clone()
}

fn with_fresh_jwt(scene: &AgentFixture, mut body: Value) -> Value {
    body["operator_jwt"] = json!(scene.plane.acme().jwt(scene.plane.service(), scene.plane.now()));
    body
}

async fn register(scene: &AgentFixture) -> countersign_testkit::Answer {
    let body = scene.plane.register_body(scene.plane.acme(), &scene.connected);
    scene.plane.post("/agent/register", &body).await
}
