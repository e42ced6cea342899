//! Every call names a structured intent; free text is ignored and never stored.

use countersign_testkit::{Altered as _, Setup, on_sqlite};
use http::Method;

const WORDS: &str = "book the doctor about Bob's knee, marker 4711";

on_sqlite! {
    /// AAP-3-05
    async fn a_call_that_names_no_intent_type_is_refused(kit) {
        let scene = kit.fixture().await;
        let call = || scene.agent.request(Method::GET, "/calendar/events", "READ_CALENDAR");
        for request in [
            call().without("x-agent-intent-type"),
            call().without("x-agent-intent-type").header("x-agent-intent", WORDS),
        ] {
            assert_eq!(scene.plane.try_call(request).await.refusal(), (400, "invalid_request".into()));
        }
        assert_eq!(scene.reached(), 0);
        scene.plane.try_call(call()).await.expect(200);
    }

    /// AAP-12.4-05
    async fn a_type_that_the_scope_does_not_list_is_refused_where_the_project_is_strict(kit) {
        let scene = kit.fixture_with(Setup::default(), &["calendar.read", "calendar.write", "clock.read"]).await;
        // Unknown to all; of a scope that was not granted; of a granted scope that does not allow this action.
        for unlisted in ["DO_SOMETHING", "CLEAN_UP", "READ_CLOCK", "read_calendar", ""] {
            let answer = scene.plane.call(&scene.agent, Method::GET, "/calendar/events", unlisted).await;
            assert_eq!(answer.refusal(), (400, "intent_type_unknown".into()), "{unlisted:?}");
        }
        let answer = scene.plane.call(&scene.agent, Method::POST, "/calendar/events", "READ_CALENDAR").await;
        assert_eq!(answer.refusal(), (400, "intent_type_unknown".into()), "reading is no reason to write");
        assert_eq!(scene.reached(), 0);
    }

    /// AAP-12.4-05, AAP-12.4-02
    async fn a_lenient_project_lets_unlisted_types_pass_and_marks_them_but_never_takes_text(kit) {
        let scene = kit.fixture_with(
            Setup::with_project(|document| document.strict_intent_types = false),
            &["calendar.read", "calendar.write"],
        ).await;
        let answer = scene.plane.call(&scene.agent, Method::GET, "/calendar/events", WORDS).await;
        assert_eq!(answer.refusal(), (400, "intent_type_unknown".into()));
        assert_eq!(scene.reached(), 0);
        scene.plane.call(&scene.agent, Method::GET, "/calendar/events", "LOOK_AROUND").await.expect(200);
        scene.plane.call(&scene.agent, Method::POST, "/calendar/events", "LOOK_AROUND").await.expect(201);
        scene.read().await.expect(200);
        let calls = scene.calls().await;
        let marks: Vec<_> = calls.iter().map(|e| (e["intent_type"].as_str(), e["intent_type_known"].as_bool())).collect();
        let unlisted = (Some("LOOK_AROUND"), Some(false));
        assert_eq!(marks, [(None, None), unlisted, unlisted, (Some("READ_CALENDAR"), None)]);
        assert!(!serde_json::json!(calls).to_string().contains("marker 4711"));
    }
}
