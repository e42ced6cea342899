//! A restart changes nothing: open sessions stay open, revoked ones stay revoked.

use countersign_testkit::{AgentFixture, Setup, on_both_stores};
use http::Method;
use serde_json::{Value, json};

const BOTH: &[&str] = &["calendar.read", "calendar.write"];

on_both_stores! {
    /// AAP-8.2-01, AAP-8.1-01, R-21
    async fn after_a_restart_a_live_token_works_and_a_revoked_one_does_not(kit) {
        let (plane, _folder) = kit.lasting_plane(Setup::default()).await;
        let scene = AgentFixture::on(plane, BOTH).await;
        let cut_off = scene.plane.connect(&scene.alice, scene.plane.acme(), BOTH).await;
        let cut_off_agent = scene.plane.register(scene.plane.acme(), &cut_off).await;
        scene.alice.post(&scene.plane, "/agent/revoke", &json!({ "delegation_id": cut_off.delegation_id })).await.expect(200);
        scene.write().await.expect(201);
        let AgentFixture { plane, alice, connected, agent } = scene;
        let scene = AgentFixture { plane: plane.restart().await, alice, connected, agent };

        scene.read().await.expect(200);
        scene.write().await.expect(201);
        let answer = scene.plane.call(&cut_off_agent, Method::POST, "/calendar/events", "SCHEDULE_EVENT").await;
        assert_eq!(answer.refusal(), (401, "delegation_revoked".into()));
        assert_eq!(answer.header("x-agent-revoke-reason"), Some("manual_revoke"));
        scene.plane.advance_secs(3600).await;
        assert_eq!(scene.read().await.refusal(), (401, "access_token_expired".into()));
        assert_eq!(scene.reached(), 3);
    }

    /// AAP-17.4-04, R-21
    async fn after_a_restart_cursors_go_on_where_they_were(kit) {
        let (plane, _folder) = kit.lasting_plane(Setup::default()).await;
        let scene = AgentFixture::on(plane, BOTH).await;
        for _ in 0..6 {
            scene.read().await.expect(200);
        }
        let all = hashes(&scene.audit("").await);
        let first = scene.audit("limit=3").await;
        let AgentFixture { plane, alice, connected, agent } = scene;
        let scene = AgentFixture { plane: plane.restart().await, alice, connected, agent };
        let rest = scene.audit(&format!("cursor={}", first["next_cursor"].as_str().unwrap())).await;
        assert_eq!([hashes(&first), hashes(&rest)].concat(), all);
        assert_eq!((&rest["next_cursor"], &rest["total_count"]), (&Value::Null, &json!(8)));
    }
}

fn hashes(page: &Value) -> Vec<Value> {
    page["entries"].as_array().unwrap().iter().map(|entry| entry["leaf_hash"].clone()).collect()
}
