//! When access ends by itself, to the second, and how it goes on.

use countersign_testkit::{Setup, on_both_stores};
use http::Method;
use serde_json::{Value, json};

on_both_stores! {
    /// AAP-8.1-01
    async fn an_access_token_lives_as_long_as_the_manifest_says_to_the_second(kit) {
        let scene = kit.scene().await;
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

    /// AAP-8.1-01
    async fn a_shorter_life_is_published_and_kept(kit) {
        let setup = Setup::with_project(|document| document.credential_ttl = 300);
        let scene = kit.scene_with(setup, &["calendar.read"]).await;
        let manifest = scene.plane.get("/.well-known/agent-auth.json").await.expect(200).json();
        assert_eq!((&manifest["credential_ttl"], &scene.agent.answer["expires_in"]), (&json!(300), &json!(300)));
        scene.plane.advance_secs(300).await;
        assert_eq!(scene.read().await.refusal(), (401, "access_token_expired".into()));
        assert_eq!(scene.reached(), 0);
    }

    /// AAP-7-07, AAP-16.2-02, AAP-17.1-11
    async fn an_expired_token_is_renewed_without_the_person(kit) {
        let scene = kit.scene().await;
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

    /// AAP-16.2-02, C-87
    async fn an_operator_jwt_is_taken_until_300_seconds_after_its_end(kit) {
        let scene = kit.scene().await;
        let body = scene.plane.register_body(scene.plane.acme(), &scene.connected);
        scene.plane.advance_secs(600).await;
        scene.plane.post("/agent/register", &body).await.expect(200);
        scene.plane.advance_secs(1).await;
        let answer = scene.plane.post("/agent/register", &body).await;
        assert_eq!(answer.refusal(), (401, "operator_jwt_expired".into()));
    }

    /// AAP-16.2-06, C-92
    async fn a_delegation_tokens_own_end_is_told_as_such(kit) {
        let setup = Setup::with_project(|document| {
            document.token_duration = Some("1h".into());
            (document.credential_ttl, document.max_agent_ttl) = (7200, 7200);
        });
        let scene = kit.scene_with(setup, &["calendar.read", "calendar.write"]).await;
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
    async fn a_policys_end_is_exact_and_told_as_a_revocation(kit) {
        let setup = Setup::with_project(|document| document.max_duration = "2h".into());
        let scene = kit.scene_with(setup, &["calendar.read"]).await;
        let policy = &scene.agent.answer["effective_policy"];
        assert_eq!(policy["expires_at"], scene.plane.now().plus_secs(7200).to_rfc3339());
        scene.plane.advance_secs(7199).await;
        let last = register(&scene).await.expect(200).json();
        assert_eq!(last["expires_in"], 1);
        scene.plane.advance_secs(1).await;
        let answer = register(&scene).await;
        assert_eq!(answer.refusal(), (401, "auto_revoked".into()));
        assert_eq!(answer.header("x-agent-revoke-reason"), Some("policy_expired"));
    }

    /// AAP-16.2-05
    async fn a_token_of_ours_for_a_delegation_that_does_not_exist_is_not_found(kit) {
        let scene = kit.scene().await;
        let mut claims = claims_of(&scene.connected.delegation_token);
        claims["delegation_id"] = json!("del_00000000000000000000000000000000");
        let mut body = scene.plane.register_body(scene.plane.acme(), &scene.connected);
        body["delegation_token"] = json!(scene.plane.service_key().await.sign("aap-delegation+jwt", &claims).unwrap());
        let answer = scene.plane.post("/agent/register", &body).await;
        assert_eq!(answer.refusal(), (401, "delegation_not_found".into()));
    }
}

async fn register(scene: &countersign_testkit::Scene) -> countersign_testkit::Answer {
    let body = scene.plane.register_body(scene.plane.acme(), &scene.connected);
    scene.plane.post("/agent/register", &body).await
}

fn claims_of(jwt: &str) -> Value {
    use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
    let payload = jwt.split('.').nth(1).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).unwrap()).unwrap()
}
