//! What a writer of the database changes in the log is not served as a fact.

use crate::{mplp::Stage, pages::Words as _};
use axum::body::Body;
use countersign_testkit::{AgentFixture, Plane, Setup, decisions::ALL, on_both_stores, send_to, tamper};
use http::Request;
use serde_json::{Value, json};

async fn metric(plane: &Plane) -> String {
    let request = Request::get("/metrics").body(Body::empty()).unwrap();
    let text = send_to(&plane.operations, request).await.expect(200).words();
    text.lines().find(|line| line.starts_with("countersign_evidence_faults ")).unwrap().to_owned()
}

/// The only entry of a type.
fn only(page: &Value) -> Value {
    let entries = page["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 1, "{page:#}");
    entries[0].clone()
}

on_both_stores! {
    ///
    async fn an_altered_opening_is_never_served_and_the_entry_readiness_and_a_metric_tell(kit) {
        let (plane, _folder) = kit.lasting_plane(Setup::default()).await;
        let scene = AgentFixture::on(plane, &["calendar.read"]).await;
        scene.read().await.expect(200);
        let before = scene.audit("event_type=call").await;
        assert_eq!((only(&before)["acting_for"].clone(), scene.plane.readyz().await.1), (json!("alice"), "ready\n".into()));
        let changed = tamper(&scene.plane.place, "UPDATE evidence_openings SET openings = replace(openings, 'alice', 'mallory')").await;
        assert!(changed > 2);
        for _ in 0..2 {
            let page = scene.audit("event_type=call").await;
            let entry = only(&page);
            assert_eq!(entry["evidence_fault"], "the opening of acting_for does not fit its commitment");
            for hidden in ["acting_for", "path", "session_id"] {
                assert_eq!(entry.get(hidden), None, "no opening of an altered row is believed: {hidden}");
            }
            assert_eq!(entry["outcome"], "200 OK", "the leaf itself still fits");
            assert!(!page.to_string().contains("mallory"));
        }
        let (status, lines) = scene.plane.readyz().await;
        assert_eq!(status, 200, "one altered row takes no node out of service");
        assert!(lines.contains("evidence: 1 altered entries were read, at lane "), "{lines}");
        assert_eq!(metric(&scene.plane).await, "countersign_evidence_faults 1", "counted once, however often it is read");
    }

    ///
    async fn of_a_leaf_that_does_not_fit_its_hash_or_its_columns_only_the_position_is_served(kit) {
        let (plane, _folder) = kit.lasting_plane(Setup::default()).await;
        let scene = AgentFixture::on(plane, &["calendar.read"]).await;
        scene.read().await.expect(200);
        let place = &scene.plane.place;
        let call = "WHERE event_type = 'call'";
        let dated = |by: &str| format!("UPDATE evidence SET at = at {by} {call}");
        for (change, undo, fault) in [
            (dated("+ 1"), Some(dated("- 1")), "the column at does not fit the leaf"),
            (
                format!("UPDATE evidence SET leaf = (SELECT o.leaf FROM evidence o WHERE o.pos = 1) {call}"),
                None,
                "the leaf does not fit its hash",
            ),
            (
                "UPDATE evidence SET event_type = 'call' WHERE event_type = 'session_started'".into(),
                None,
                "the column event_type does not fit the leaf",
            ),
        ] {
            assert_eq!(tamper(place, &change).await, 1, "{change}");
            let page = scene.audit("event_type=call").await;
            let found = page["entries"].as_array().unwrap().iter().find(|entry| entry["evidence_fault"] == fault);
            let entry = found.unwrap_or_else(|| panic!("{fault}: {page:#}"));
            let told: Vec<&String> = entry.as_object().unwrap().keys().collect();
            assert_eq!(told, ["event_type", "evidence_fault", "lane", "leaf_hash", "seq", "timestamp"]);
            assert_eq!(entry["event_type"], "unreadable");
            if let Some(undo) = undo {
                assert_eq!(tamper(place, &undo).await, 1);
            }
        }
    }

    ///
    async fn no_event_is_made_of_an_altered_leaf_and_an_overseer_learns_how_many_are_missing(kit) {
        let (plane, _folder) = kit.lasting_plane(Setup::payments()).await;
        let stage = Stage::with_key(kit, plane, ALL).await;
        let body = countersign_testkit::decisions::confirmation("payments.send", json!({ "amount": 82 }));
        stage.agent.requests_confirmation(&stage.plane, &body).await.expect(201);
        let admin = stage.admin_key().await;
        let events = async || stage.get(&admin, "events").await.expect(200);
        let before = events().await;
        assert!(!before.json()["items"].as_array().unwrap().is_empty());
        assert_eq!(before.headers.get("countersign-unreadable-entries"), None);
        let change = "UPDATE evidence SET leaf = (SELECT o.leaf FROM evidence o WHERE o.pos = 1) WHERE event_type = 'decision_raised'";
        assert_eq!(tamper(&stage.plane.place, change).await, 1);
        let after = events().await;
        assert_eq!(after.json()["items"], json!([]));
        assert_eq!(after.headers["countersign-unreadable-entries"], "1");
        assert_eq!(stage.get(&stage.agent, "events").await.expect(200).headers.get("countersign-unreadable-entries"), None);
    }
}
