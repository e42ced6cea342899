//! One entry a call, with all its members.

use countersign_testkit::{Altered as _, Setup, on_sqlite};
use http::Method;
use serde_json::{Value, json};

on_sqlite! {
    /// AAP-7.1-01, AAP-7.1-02
    async fn a_call_has_exactly_one_entry_with_everything_about_it(kit) {
        let scene = kit.fixture().await;
        scene.plane.advance_secs(5).await;
        let call = scene.agent.request(Method::PUT, "/calendar/events/7?notify=bob", "SCHEDULE_EVENT");
        scene.plane.try_call(call.header("x-agent-intent", "words about Bob")).await.expect(200);
        let page = scene.audit("event_type=call").await;
        assert_eq!((&page["total_count"], &page["next_cursor"]), (&json!(1), &Value::Null));
        let mut entry = page["entries"][0].clone();
        let (lane, seq) = (entry["lane"].take(), entry["seq"].take());
        assert!(lane.as_i64().is_some() && seq.as_i64().is_some_and(|seq| seq > 0));
        assert_eq!(entry["leaf_hash"].take().as_str().map(str::len), Some(64));
        assert!(entry["call_id"].take().as_str().is_some_and(|id| id.starts_with("call_")));
        let wanted = json!({
            "timestamp": scene.plane.now().to_rfc3339(),
            "event_type": "call",
            "call_id": null,
            "mode": "user_delegated",
            "method": "PUT",
            "path": "/calendar/events/7",
            "intent_type": "SCHEDULE_EVENT",
            "session_id": scene.agent.session_id,
            "delegation_id": scene.connected.delegation_id,
            "operator": "acme.test",
            "acting_for": "alice",
            "action": "events.update",
            "effect": "committed",
            "outcome": "200 OK",
            "lane": null, "seq": null, "leaf_hash": null,
        });
        assert_eq!(entry, wanted);
    }

    /// AAP-7.1-02
    async fn the_whole_story_of_a_delegation_is_listed_in_order(kit) {
        let scene = kit.fixture().await;
        scene.read().await.expect(200);
        scene.write().await.expect(201);
        scene.revoke().await.expect(200);
        scene.read().await.expect(401);
        let page = scene.audit("").await;
        let story: Vec<_> = page["entries"].as_array().unwrap().iter().map(|e| e["event_type"].as_str().unwrap()).collect();
        assert_eq!(story, ["delegation_granted", "session_started", "call", "call", "delegation_revoked", "call"]);
        assert_eq!(page["total_count"], 6);
    }

    /// AAP-7.1-02
    async fn refused_calls_of_a_known_bearer_are_listed_with_their_refusal(kit) {
        let scene = kit.fixture_with(Setup::default(), &["calendar.read", "mail.invite"]).await;
        let call = |method: Method, path: &str, intent: &str| scene.agent.request(method, path, intent);
        let get = || call(Method::GET, "/calendar/events", "READ_CALENDAR");
        let refused = [
            (get().without("x-agent-mode"), "400 mode_missing"),
            (get().instead("x-agent-mode", "service_account"), "400 mode_not_supported"),
            (get().instead("x-agent-session", "another"), "401 delegation_mismatch"),
            (get().instead("x-agent-consent", "no.such.receipt"), "401 consent_invalid"),
            (call(Method::DELETE, "/calendar/events/1", "CLEAN_UP"), "403 scope_not_granted"),
            (get().instead("x-agent-intent-type", "UNHEARD_OF"), "400 intent_type_unknown"),
            (get().without("x-agent-intent-type"), "400 invalid_request"),
            (get().header("x-agent-dry-run", "yes"), "400 invalid_request"),
            (call(Method::POST, "/mail/invitations", "SEND_INVITATION"), "403 irreversible_requires_confirm"),
        ];
        let mut told = Vec::new();
        for (request, outcome) in refused {
            let answer = scene.plane.try_call(request).await;
            assert_eq!(format!("{} {}", answer.status, answer.code()), outcome);
            told.push(outcome);
        }
        let calls = scene.calls().await;
        let outcomes: Vec<_> = calls.iter().map(|entry| entry["outcome"].as_str().unwrap()).collect();
        assert_eq!(outcomes, told);
        assert_eq!((&calls[4]["method"], &calls[4]["path"]), (&json!("DELETE"), &json!("/calendar/events/1")));
        for entry in &calls {
            assert_eq!((&entry["session_id"], &entry["acting_for"]), (&json!(scene.agent.session_id), &json!("alice")));
        }
        assert_eq!(scene.reached(), 0);
    }

    /// AAP-7.1-02, AAP-22.2-02
    async fn a_call_whose_bearer_is_not_known_yet_is_in_nobodys_list(kit) {
        let scene = kit.fixture().await;
        let get = || scene.agent.request(Method::GET, "/calendar/events", "READ_CALENDAR");
        for request in [
            get().without("authorization"),
            get().without("aap-version"),
            get().instead("authorization", "Bearer aat_of_nobody"),
            scene.agent.request(Method::GET, "/nowhere", "READ_CALENDAR"),
        ] {
            assert!(scene.plane.try_call(request).await.status >= 400);
        }
        assert_eq!(scene.calls().await, Vec::<Value>::new());
    }
}
