//! A session's receipt: the same one or none on each call, within its window, and never stored.

use countersign_testkit::{Altered as _, Scene, Setup, leaks::Haystack, on_sqlite};
use http::Method;
use serde_json::{Value, json};
use std::{
    io::Write,
    sync::{Arc, Mutex},
};

on_sqlite! {
    /// AAP-7-09, C-82
    async fn a_call_may_carry_the_receipt_of_its_session_and_no_other(kit) {
        let scene = kit.scene().await;
        let (agent, receipt) = scene.with_receipt(&["calendar.read", "calendar.write"], |_| ()).await;
        let (_, other) = scene.receipt_body(&["calendar.read", "calendar.write"], |claims| {
            claims["session_id"] = json!("sess_0000000000000000000000000000feed");
        });
        // Valid, of the same session and person, but not the registered one.
        let (_, sibling) = scene.receipt_body(&["calendar.read"], |_| ());
        for method in [Method::GET, Method::POST] {
            let call = || agent.request(method.clone(), "/calendar/events", "SCHEDULE_EVENT");
            for wrong in [other.as_str(), sibling.as_str(), "not a receipt", "", &receipt[..receipt.len() - 1], &format!("{receipt} ")] {
                // Whitespace around a value is no part of it.
                let request = call().instead("x-agent-consent", wrong.trim());
                if wrong.trim() != receipt {
                    assert_eq!(scene.plane.try_call(request).await.refusal(), (401, "consent_invalid".into()));
                }
            }
        }
        assert_eq!(scene.reached(), 0);
        let call = || agent.request(Method::GET, "/calendar/events", "READ_CALENDAR");
        scene.plane.try_call(call()).await.expect(200);
        scene.plane.try_call(call().instead("x-agent-consent", &receipt)).await.expect(200);
    }

    /// AAP-7-09, C-82
    async fn a_session_without_a_receipt_takes_none(kit) {
        let scene = kit.scene().await;
        let (_, receipt) = scene.receipt_body(&["calendar.read"], |_| ());
        let call = scene.agent.request(Method::GET, "/calendar/events", "READ_CALENDAR");
        let answer = scene.plane.try_call(call.instead("x-agent-consent", &receipt)).await;
        assert_eq!(answer.refusal(), (401, "consent_invalid".into()));
        assert_eq!(scene.reached(), 0);
    }

    /// C-83, C-87
    async fn a_task_runs_within_the_window_that_the_person_set(kit) {
        let scene = kit.scene().await;
        let at = |secs: i64| json!(scene.plane.now().plus_secs(secs).to_rfc3339());
        let window = |earliest: Value, latest: Value| move |claims: &mut Value| {
            claims["execution_window"] = json!({ "earliest": earliest, "latest": latest });
        };
        let (too_early, _) = scene.receipt_body(&["calendar.read"], window(at(301), at(3600)));
        let answer = scene.plane.post("/agent/register", &too_early).await;
        assert_eq!(answer.refusal(), (401, "consent_expired".into()));

        let (agent, _) = scene.with_receipt(&["calendar.read"], window(at(300), at(600))).await;
        let read = async || scene.plane.call(&agent, Method::GET, "/calendar/events", "READ_CALENDAR").await;
        read().await.expect(200);
        scene.plane.advance_secs(900).await;
        read().await.expect(200);
        scene.plane.advance_secs(1).await;
        assert_eq!(read().await.refusal(), (401, "consent_expired".into()));
        assert_eq!(scene.reached(), 2);
        scene.read().await.expect(200);
    }

    /// AAP-19.3-10
    async fn a_receipt_is_for_exactly_this_service(kit) {
        let scene = kit.scene().await;
        let service = scene.plane.service().to_owned();
        let others = [
            format!("{service}/"),
            service.to_uppercase(),
            format!("{service}:443"),
            format!("{service}/agent"),
            service.replace("https://", ""),
            "https://api.other.test".into(),
        ];
        for other in others {
            let (body, _) = scene.receipt_body(&["calendar.read"], |claims| claims["aud"] = json!(other));
            let answer = scene.plane.post("/agent/register", &body).await;
            assert_eq!(answer.refusal(), (403, "consent_service_mismatch".into()), "{other}");
        }
        scene.with_receipt(&["calendar.read"], |claims| claims["aud"] = json!(service)).await;
    }

    /// AAP-7-09
    async fn a_receipt_is_neither_stored_nor_logged(kit) {
        let log = Log::default();
        let writer = log.clone();
        let subscriber =
            tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(move || writer.clone()).finish();
        let _logging = tracing::subscriber::set_default(subscriber);
        let (plane, _folder) = kit.lasting_plane(Setup::default()).await;
        let scene = Scene::on(plane, &["calendar.read"]).await;
        let (agent, receipt) = scene.with_receipt(&["calendar.read"], |_| ()).await;
        let call = || agent.request(Method::GET, "/calendar/events", "READ_CALENDAR");
        scene.plane.try_call(call().instead("x-agent-consent", &receipt)).await.expect(200);
        scene.plane.try_call(call().instead("x-agent-consent", &format!("{receipt}x"))).await.expect(401);
        let stored = Haystack::stored(&scene.plane.place).await;
        let logged = Haystack::new("the log", log.0.lock().unwrap().clone());
        stored.has("the session", &agent.session_id);
        logged.has("the end of a call", "answered");
        for part in receipt.split('.').filter(|part| part.len() > 60) {
            stored.lacks("a part of the receipt", part);
            logged.lacks("a part of the receipt", part);
        }
    }
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
