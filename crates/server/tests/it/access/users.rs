//! One session, one user, one delegation: on every request, not only at the start.

use countersign_testkit::{Altered as _, on_sqlite};
use http::Method;
use serde_json::json;

on_sqlite! {
    /// AAP-13.3-03
    async fn a_session_never_passes_to_another_user(kit) {
        let scene = kit.fixture().await;
        let plane = &scene.plane;
        let bob = plane.person("bob").await;
        let of_bob = plane.connect(&bob, plane.acme(), &["calendar.read"]).await;
        let mut body = plane.register_body(plane.acme(), &of_bob);
        body["session_id"] = json!(scene.agent.session_id);
        let answer = plane.post("/agent/register", &body).await;
        assert_eq!(answer.refusal(), (401, "delegation_mismatch".into()));
        scene.read().await.expect(200);
        assert_eq!(plane.upstream.reached()[0].caller.clone().unwrap().acting_for.as_deref(), Some("alice"));
    }

    /// AAP-13.3-04
    async fn a_call_that_names_another_users_delegation_is_refused(kit) {
        let scene = kit.fixture().await;
        let plane = &scene.plane;
        let bob = plane.person("bob").await;
        let of_bob = plane.connect(&bob, plane.acme(), &["calendar.read", "calendar.write"]).await;
        let agent_of_bob = plane.register(plane.acme(), &of_bob).await;
        scene.read().await.expect(200);
        for method in [Method::GET, Method::POST] {
            let call = || scene.agent.request(method.clone(), "/calendar/events", "SCHEDULE_EVENT");
            for request in [
                call().instead("x-agent-delegation", &of_bob.delegation_id),
                call().instead("x-agent-delegation", "del_aaaaaaaaaaaaaaaaaaaaaaaaaa"),
                call().instead("x-agent-delegation", ""),
                call().instead("x-agent-session", &agent_of_bob.session_id),
            ] {
                assert_eq!(plane.try_call(request).await.refusal(), (401, "delegation_mismatch".into()));
            }
        }
        assert_eq!(scene.reached(), 1);
    }

    /// AAP-11.6-03, AAP-G-54
    async fn a_call_that_does_not_name_its_delegation_or_its_session_is_refused_and_listed(kit) {
        let scene = kit.fixture().await;
        for (method, intent) in [(Method::GET, "READ_CALENDAR"), (Method::POST, "SCHEDULE_EVENT")] {
            for (name, header) in
                [("x-agent-delegation", "X-Agent-Delegation"), ("x-agent-session", "X-Agent-Session")]
            {
                let call = scene.agent.request(method.clone(), "/calendar/events", intent);
                let answer = scene.plane.try_call(call.without(name)).await;
                assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{method} without {header}");
                let (why, hint) = (answer.json()["error_description"].clone(), answer.json()["hint"].clone());
                assert_eq!(why, format!("the header {header} is missing"));
                assert!(hint.as_str().unwrap().starts_with(&format!("send {header} with ")), "{hint}");
            }
        }
        assert_eq!(scene.reached(), 0);
        let outcomes: Vec<_> = scene.calls().await.iter().map(|entry| entry["outcome"].clone()).collect();
        assert_eq!(outcomes, ["400 invalid_request"; 4]);
    }
}
