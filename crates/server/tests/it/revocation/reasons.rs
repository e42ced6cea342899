//! `X-Agent-Revoke-Reason`: one word for each way in which access ends, and none on an ordinary failure (AAP 8.5). And the
//! five triggers of one policy: whichever comes first ends the delegation (AAP 8.3).

use super::auto_revoke::{admin_key, agent_under, complete, ended, report};
use countersign_jose::SigningKey;
use countersign_testkit::{AgentFixture, Altered as _, Answer, on_sqlite};
use http::Method;
use serde_json::{Value, json};

/// All five triggers.
fn policy() -> Value {
    json!({
        "after_duration": "2h", "after_inactivity": "1h", "after_use": { "max_requests": 4 },
        "on_task_completion": true, "on_events": ["user.role_changed"],
    })
}

/// A trigger by its name in the audit, and the header's word for it.
const TRIGGERS: [(&str, &str); 5] = [
    ("expires_at", "policy_expired"),
    ("inactivity_timeout", "inactivity"),
    ("after_use", "policy_expired"),
    ("on_task_completion", "task_complete"),
    ("user.role_changed", "event_triggered"),
];

/// Lets exactly this trigger come.
async fn comes(trigger: &str, scene: &AgentFixture) {
    let plane = &scene.plane;
    match trigger {
        "expires_at" => {
            for _ in 0..2 {
                plane.advance_secs(3000).await;
                scene.read().await.expect(200);
            }
            plane.advance_secs(1200).await;
        }
        "inactivity_timeout" => plane.advance_secs(3600).await,
        "after_use" => {
            for _ in 0..4 {
                scene.read().await.expect(200);
            }
        }
        "on_task_completion" => {
            let body = json!({ "session_id": scene.agent.session_id });
            complete(plane, &scene.agent, &body).await.expect(200);
        }
        event => {
            let key = admin_key(plane).await;
            let body = json!({ "event": event, "event_id": "hr-1", "user": "alice" });
            report(plane, &key, &body).await.expect(200);
        }
    }
}

async fn auto_revocations(scene: &AgentFixture) -> Vec<Value> {
    let page = scene.audit("event_type=auto_revoked").await;
    page["entries"].as_array().unwrap().iter().map(|entry| entry["trigger"].clone()).collect()
}

on_sqlite! {
    /// AAP-G-08, AAP-8.5-07, AAP-8-01
    async fn of_five_triggers_the_first_to_come_ends_the_delegation_and_no_other_does_again(kit) {
        for (first, word) in TRIGGERS {
            let scene = agent_under(kit, policy()).await;
            scene.plane.advance_secs(60).await;
            comes(first, &scene).await;
            let reached = scene.reached();
            assert_eq!(ended(&scene.read().await), (401, "auto_revoked".into(), Some(word.into())), "{first}");
            let again = scene.plane.register_body(scene.plane.acme(), &scene.connected);
            assert_eq!(ended(&scene.plane.post("/agent/register", &again).await).2.as_deref(), Some(word), "{first}");
            assert_eq!(auto_revocations(&scene).await, [first]);
            // The others come too late to change anything.
            scene.plane.advance_secs(7200).await;
            assert_eq!(ended(&scene.read().await), (401, "auto_revoked".into(), Some(word.into())), "{first}");
            assert_eq!((auto_revocations(&scene).await, scene.reached()), (vec![json!(first)], reached));
        }
    }

    /// AAP-8.5-07
    async fn a_revocation_by_somebody_and_a_withdrawn_key_have_their_words_too(kit) {
        for (reason, word) in [
            ("user_requested", "manual_revoke"),
            ("admin_requested", "manual_revoke"),
            ("task_complete", "task_complete"),
            ("policy_triggered", "policy_expired"),
        ] {
            let scene = kit.fixture().await;
            let body = json!({ "delegation_id": scene.connected.delegation_id, "reason": reason });
            scene.alice.post(&scene.plane, "/agent/revoke", &body).await.expect(200);
            assert_eq!(ended(&scene.read().await), (401, "delegation_revoked".into(), Some(word.into())), "{reason}");
        }
        let scene = agent_under(kit, json!({})).await;
        scene.plane.acme().publish(&[&SigningKey::generate(Some("key-2")).unwrap()]);
        scene.plane.advance_secs(3601).await;
        let withdrawn = ended(&scene.read().await);
        assert_eq!(withdrawn, (401, "operator_jwt_invalid".into(), Some("key_rotation".into())));
    }

    /// AAP-8.5-06: a suspension is none either, as `use_from_two_networks_suspends_the_delegation_…` has it.
    async fn a_failed_authentication_that_is_no_revocation_has_no_word(kit) {
        let scene = kit.fixture().await;
        let read = || scene.agent.request(Method::GET, "/calendar/events", "READ_CALENDAR");
        let garbled = format!("Bearer {}x", scene.agent.access_token);
        let other = scene.plane.connect(&scene.alice, scene.plane.acme(), &["calendar.read"]).await;
        let refused = [
            ("garbled", scene.plane.try_call(read().instead("authorization", &garbled)).await, "access_token_invalid"),
            ("no credential", scene.plane.try_call(read().without("authorization")).await, "agent_auth_required"),
            (
                "another delegation",
                scene.plane.try_call(read().instead("x-agent-delegation", &other.delegation_id)).await,
                "delegation_mismatch",
            ),
            ("expired", after(&scene, 3600).await, "access_token_expired"),
        ];
        for (what, answer, code) in refused {
            assert_eq!(ended(&answer), (401, code.into(), None), "{what}");
        }
        scene.revoke().await.expect(200);
        let again = scene.plane.register_body(scene.plane.acme(), &scene.connected);
        let revoked = ended(&scene.plane.post("/agent/register", &again).await);
        assert_eq!(revoked, (401, "delegation_revoked".into(), Some("manual_revoke".into())));
    }
}

async fn after(scene: &AgentFixture, secs: i64) -> Answer {
    scene.plane.advance_secs(secs).await;
    scene.read().await
}
