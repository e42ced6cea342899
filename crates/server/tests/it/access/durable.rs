//! The record comes first: a write's intent before the upstream, every response after its record.

use countersign_testkit::{AgentFixture, Setup, calendar, on_both_stores, stored_evidence};
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

const BOTH: &[&str] = &["calendar.read", "calendar.write"];

on_both_stores! {
    ///
    async fn a_write_is_in_the_evidence_before_the_upstream_is_reached(kit) {
        let (plane, _folder) = kit.lasting_plane(Setup::default()).await;
        let scene = AgentFixture::on(plane, BOTH).await;
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (place, noted) = (scene.plane.place.clone(), Arc::clone(&seen));
        scene.plane.upstream.meanwhile(move || {
            let (place, noted) = (place.clone(), Arc::clone(&noted));
            async move {
                let log = stored_evidence(&place).await;
                noted.lock().unwrap().extend(log);
            }
        });
        let before = stored_evidence(&scene.plane.place).await.len();
        scene.write().await.expect(201);
        let seen = seen.lock().unwrap().clone();
        assert_eq!(seen.len(), before + 1);
        let intent = seen.last().unwrap();
        assert_eq!(intent.event_type, "call_started");
        let leaf: serde_json::Value = serde_json::from_slice(&intent.leaf).unwrap();
        assert_eq!((&leaf["method"], &leaf["action"]), (&"POST".into(), &"events.create".into()));
        assert_eq!(leaf["delegation_id"], scene.connected.delegation_id);
        assert!(intent.openings.as_ref().unwrap().contains("/calendar/events"));

        let after = stored_evidence(&scene.plane.place).await;
        assert_eq!(after.len(), before + 2, "and then its outcome");
        assert_eq!(after.last().unwrap().event_type, "call");
        assert_eq!(scene.calls().await.len(), 1, "in the audit a call has one entry");
    }

    ///
    async fn a_permitted_write_is_answered_even_if_it_is_cut_off_meanwhile(kit) {
        let scene = Arc::new(kit.fixture().await);
        let cut = Arc::clone(&scene);
        scene.plane.upstream.meanwhile(move || {
            let scene = Arc::clone(&cut);
            async move { drop(scene.revoke().await.expect(200)) }
        });
        scene.write().await.expect(201);
        assert_eq!(outcomes(&scene).await, ["201 Created"]);
        assert_eq!(scene.write().await.refusal(), (401, "delegation_revoked".into()));
        assert_eq!(scene.reached(), 1);
    }

    ///
    async fn a_read_is_decided_again_after_a_change_meanwhile(kit) {
        let scene = kit.fixture().await;
        let documents = Arc::new(Mutex::new(vec![stricter(), harmless()]));
        let engine = Arc::clone(&scene.plane.engine);
        scene.plane.upstream.meanwhile(move || {
            let (engine, next) = (Arc::clone(&engine), documents.lock().unwrap().pop());
            async move {
                if let Some(document) = next {
                    engine.apply_project(document, "test").await.unwrap();
                }
            }
        });
        scene.read().await.expect(200);
        assert_eq!(scene.read().await.refusal(), (403, "scope_not_granted".into()));
        assert_eq!(outcomes(&scene).await, ["200 OK", "403 scope_not_granted"]);
    }

    /// R-24, AAP-7.1-02
    async fn any_upstream_response_is_the_outcome(kit) {
        let scene = kit.fixture().await;
        // The unknown outcome comes last: a repeat of its write is refused.
        for (status, outcome) in [(404, "404 Not Found"), (299, "299"), (500, "500 Internal Server Error")] {
            scene.plane.upstream.set_status(status);
            scene.read().await.expect(status);
            scene.write().await.expect(status);
            let last = outcomes(&scene).await;
            assert_eq!(last[last.len() - 2..], [outcome, outcome]);
        }
    }

    ///
    async fn a_write_whose_caller_hangs_up_still_has_its_outcome(kit) {
        let scene = Arc::new(kit.fixture().await);
        let (working, finish) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (begun, wait) = (Arc::clone(&working), Arc::clone(&finish));
        scene.plane.upstream.meanwhile(move || {
            let (begun, wait) = (Arc::clone(&begun), Arc::clone(&wait));
            async move {
                begun.notify_one();
                wait.notified().await;
            }
        });
        let caller = tokio::spawn({
            let scene = Arc::clone(&scene);
            async move { scene.write().await }
        });
        working.notified().await;
        caller.abort();
        assert!(caller.await.unwrap_err().is_cancelled());
        finish.notify_one();
        let told = async {
            while outcomes(&scene).await.is_empty() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(20), told).await.expect("the outcome is recorded");
        assert_eq!(outcomes(&scene).await, ["201 Created"]);
    }

    ///
    async fn an_upstream_that_breaks_down_is_an_outcome_too(kit) {
        let scene = kit.fixture().await;
        scene.plane.upstream.meanwhile(|| async { panic!("the upstream of this test breaks down") });
        assert_eq!(scene.write().await.refusal(), (502, "upstream_failed".into()));
        assert_eq!(scene.read().await.refusal(), (502, "upstream_failed".into()));
        assert_eq!(outcomes(&scene).await, ["unknown: the upstream failed"; 2]);
    }
}

async fn outcomes(scene: &AgentFixture) -> Vec<String> {
    scene.calls().await.iter().map(|entry| entry["outcome"].as_str().unwrap().to_owned()).collect()
}

fn harmless() -> countersign_protocol::project::ProjectDocument {
    let mut document = calendar("calendar");
    document.display_name = "Another name".into();
    document
}

fn stricter() -> countersign_protocol::project::ProjectDocument {
    let mut document = calendar("calendar");
    document.scopes[1].explicitly_excludes.push("events.list".into());
    document
}
