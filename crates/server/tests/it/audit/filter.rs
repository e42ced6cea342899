//! `from`, `to`, `event_type`, `limit`.

use super::hashes;
use countersign_testkit::{AgentFixture, on_both_stores};
use futures_util::future::join_all;
use serde_json::{Value, json};

on_both_stores! {
    /// AAP-17.4-02, AAP-17.4-05, C-90
    async fn from_is_inclusive_and_to_is_exclusive(kit) {
        let scene = kit.fixture().await;
        let mut moments = Vec::new();
        for _ in 0..3 {
            scene.plane.advance_secs(10).await;
            scene.read().await.expect(200);
            moments.push(scene.plane.now());
        }
        let all = hashes(&scene.audit("event_type=call").await);
        let instant = |n: usize, millis: i64| moments[n].plus_millis(millis).to_rfc3339();
        let span = async |from: Option<String>, to: Option<String>| {
            let from = from.map(|from| format!("&from={from}")).unwrap_or_default();
            let to = to.map(|to| format!("&to={to}")).unwrap_or_default();
            let page = scene.audit(&format!("event_type=call{from}{to}")).await;
            assert_eq!(page["total_count"], page["entries"].as_array().unwrap().len());
            hashes(&page)
        };
        // Before and after the entries have moved from the tail into the index.
        for _ in 0..2 {
            assert_eq!(span(Some(instant(1, 0)), None).await, all[1..]);
            assert_eq!(span(Some(instant(1, 1)), None).await, all[2..]);
            assert_eq!(span(None, Some(instant(1, 0))).await, all[..1]);
            assert_eq!(span(None, Some(instant(1, 1))).await, all[..2]);
            assert_eq!(span(Some(instant(0, 0)), Some(instant(2, 0))).await, all[..2]);
            assert_eq!(span(Some(instant(1, 0)), Some(instant(1, 0))).await, Vec::<String>::new());
            assert_eq!(span(Some(instant(2, 0)), Some(instant(0, 0))).await, Vec::<String>::new());
            // The same instant in another zone.
            let elsewhere = moments[1].plus_secs(3600).to_rfc3339().replace('Z', "%2B01:00");
            assert_eq!(span(Some(elsewhere), None).await, all[1..]);
            scene.plane.engine.run_maintenance().await.unwrap();
        }
    }

    /// AAP-17.4-02, AAP-17.4-03
    async fn an_unreadable_audit_query_is_refused(kit) {
        let scene = kit.fixture().await;
        let wrong = [
            "from=yesterday", "from=", "to=2026-13-01T00:00:00Z", "to=2026-11-15", "from=1763208000", "to=2026-11-15T12:00:00",
            "limit=0", "limit=-1", "limit=x", "limit=", "limit=1.5", "limit=99999999999999999999999", "limit=5&limit=6",
        ];
        for wrong in wrong {
            let query = format!("/agent/audit?delegation_id={}&{wrong}", scene.connected.delegation_id);
            let answer = scene.alice.get(&scene.plane, &query).await;
            assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{wrong}");
        }
    }

    /// AAP-17.4-03, AAP-17.4-05
    async fn a_page_has_50_entries_unless_asked_otherwise_and_never_more_than_200(kit) {
        let scene = kit.fixture().await;
        many_calls(&scene, 203).await;
        for (filter, entries) in [("", 50), ("limit=1", 1), ("limit=200", 200), ("limit=201", 200), ("limit=500", 200)] {
            let page = scene.audit(filter).await;
            assert_eq!(page["entries"].as_array().unwrap().len(), entries, "{filter}");
            assert_eq!(page["total_count"], 205, "{filter}");
            assert!(page["next_cursor"].is_string());
        }
    }

    /// AAP-17.4-05, C-22
    async fn an_event_type_selects_entries_and_the_count_is_theirs(kit) {
        let scene = kit.fixture().await;
        scene.read().await.expect(200);
        scene.write().await.expect(201);
        scene.revoke().await.expect(200);
        for (event_type, count) in
            [("call", 2), ("session_started", 1), ("delegation_revoked", 1), ("call_started", 0), ("no_such", 0), ("", 0)]
        {
            let page = scene.audit(&format!("event_type={event_type}")).await;
            assert_eq!(page["total_count"], count, "{event_type}");
            assert_eq!(page["next_cursor"], Value::Null);
            let types: Vec<_> = page["entries"].as_array().unwrap().iter().map(|e| e["event_type"].clone()).collect();
            assert_eq!(types, vec![json!(event_type); count]);
        }
    }
}

/// In batches, so that the store can group their commits.
pub(super) async fn many_calls(scene: &AgentFixture, calls: usize) {
    for group in vec![(); calls].chunks(50) {
        for answer in join_all(group.iter().map(|()| scene.read())).await {
            answer.expect(200);
        }
    }
}
