//! Before anything else: no credentials, no version, the wrong kind of credential, another project's.

use countersign_testkit::{Altered as _, Backend, Kit, on_sqlite};
use http::{Method, Request};
use serde_json::Value;

const CHALLENGE: &str = "Bearer agent_auth_required=\"/.well-known/agent-auth.json\"";

on_sqlite! {
    /// AAP-2-01, AAP-3-08
    async fn a_call_without_credentials_is_challenged_before_any_other_refusal(kit) {
        let scene = kit.fixture().await;
        let call = |path: &str| Request::builder().method(Method::GET).uri(path);
        let calls = [
            call("/calendar/events"),
            call("/calendar/events").header("aap-version", "2.0"),
            call("/calendar/events").header("aap-version", "9.9"),
            call("/calendar/events").header("aap-version", "2.0").header("aap-version", "2.0"),
            call("/calendar/events").header("x-agent-mode", "nobody").header("x-agent-mode", "anybody"),
            call("/nowhere"),
            call("/calendar/events").method(Method::POST).header("x-agent-session", &scene.agent.session_id),
            call("/calendar/events").header("x-agent-delegation", &scene.connected.delegation_id),
        ];
        for call in calls {
            let answer = scene.plane.try_call(call).await;
            assert_eq!(answer.refusal(), (401, "agent_auth_required".into()));
            assert_eq!(answer.header("www-authenticate"), Some(CHALLENGE));
        }
        assert_eq!(scene.reached(), 0);
        assert_eq!(scene.calls().await, Vec::<Value>::new(), "a call of nobody's is in nobody's record");
    }

    /// AAP-22.1-01
    async fn requests_that_are_no_agents_need_no_version(kit) {
        let scene = kit.fixture().await;
        for path in ["/.well-known/agent-auth.json", "/.well-known/agent-jwks.json", "/.well-known/agent-identity.json"] {
            scene.plane.get(path).await.expect(200);
        }
        scene.alice.get(&scene.plane, "/v1/agents").await.expect(200);
        scene.revoke().await.expect(200);
    }
}

/// AAP-2-01
#[tokio::test]
async fn only_a_bearer_token_that_we_issued_is_one() {
    let scene = Kit(Backend::Sqlite).fixture().await;
    let token = &scene.agent.access_token;
    let operator_jwt = scene.plane.acme().jwt(scene.plane.service(), scene.plane.now());
    let wrong = [
        String::new(),
        "Bearer".into(),
        "Bearer ".into(),
        format!("Bearer{token}"),
        format!("Basic {token}"),
        format!("Bearer {token}x"),
        format!("Bearer {}", token.to_uppercase()),
        format!("Bearer {operator_jwt}"),
        format!("Bearer {}", scene.connected.delegation_id),
        format!("Bearer {}", scene.agent.session_id),
        token.clone(),
    ];
    for value in wrong {
        let call = scene.agent.request(Method::GET, "/calendar/events", "READ_CALENDAR");
        let answer = scene.plane.try_call(call.instead("authorization", &value)).await;
        assert_eq!(answer.refusal(), (401, "access_token_invalid".into()), "{value:?}");
    }
    let call = scene.agent.request(Method::GET, "/calendar/events", "READ_CALENDAR");
    let unbound = scene.plane.try_call(call.instead("authorization", &format!("DPoP {token}"))).await;
    assert_eq!(unbound.refusal(), (401, "dpop_invalid".into()), "a token that is bound to no key has no proof");
    assert_eq!(scene.reached(), 0);
    let call = scene.agent.request(Method::GET, "/calendar/events", "READ_CALENDAR");
    scene.plane.try_call(call.instead("authorization", &format!("bearer {token}"))).await.expect(200);
}
