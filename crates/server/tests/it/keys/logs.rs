//! The log contains no usable secret and no free text of a person.

use super::story;
use countersign_server::{LogTo, logs_to};
use countersign_testkit::{leaks::Haystack, on_sqlite};
use std::sync::{Arc, Mutex};

on_sqlite! {
    /// AAP-12.4-01, R-26
    async fn the_whole_story_at_the_most_talkative_level_tells_no_secret_and_no_intent(kit) {
        for json in [false, true] {
            let buffer = Arc::new(Mutex::new(Vec::new()));
            let told = {
                let log = logs_to(LogTo::Buffer(Arc::clone(&buffer)), json, "trace");
                let _here = tracing::subscriber::set_default(log);
                story::run(&kit.plane().await).await
            };
            let log = Haystack::new("the log", buffer.lock().unwrap().clone());
            log.assert_present("the end of a sign-in", "/session/fresh");
            log.assert_present("the end of a revocation", "/agent/revoke");
            log.assert_present("the name of a request", "request_id");
            for (what, secret) in &told.secrets {
                log.assert_absent(what, secret);
            }
            for (what, text) in told.intents.iter().chain(&told.unlogged) {
                log.assert_absent(what, text);
            }
        }
    }
}

/// AAP-12.4-01: also in the log line of a failure.
#[tokio::test]
async fn a_store_that_fails_in_the_middle_puts_nothing_of_the_request_into_the_log() {
    let plane = countersign_testkit::Kit(countersign_testkit::Backend::Sqlite).plane().await;
    let alice = plane.person("alice").await;
    let connected = plane.connect(&alice, plane.acme(), &["calendar.read"]).await;
    let agent = plane.register(plane.acme(), &connected).await;
    plane.engine.store().close().await;
    let buffer = Arc::new(Mutex::new(Vec::new()));
    let marker = "HEADER-INTENT she wants to leave her husband";
    {
        let _here = tracing::subscriber::set_default(logs_to(LogTo::Buffer(Arc::clone(&buffer)), false, "trace"));
        let request = agent.request(http::Method::POST, "/calendar/events", "SCHEDULE_EVENT");
        let request = request.header("x-agent-intent", marker).body(axum::body::Body::empty()).unwrap();
        assert!(countersign_testkit::send_to(&plane.api(), request).await.status >= 400);
        let guess = serde_json::json!({ "name": "alice", "password": "a guess at the password" });
        assert_eq!(plane.post("/session", &guess).await.refusal(), (503, "service_unavailable".into()));
    }
    let log = Haystack::new("the log", buffer.lock().unwrap().clone());
    log.assert_present("the trouble", "the store could not be read");
    log.assert_absent("an access token", &agent.access_token);
    log.assert_absent("an intent", marker);
    log.assert_absent("a guess", "a guess at the password");
}
