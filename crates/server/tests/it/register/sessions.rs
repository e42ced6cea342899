//! Sessions and their tokens.

use super::support::{Ready, SQLITE, told, with};
use countersign_testkit::{Registered, Setup, on_both_stores};
use http::Method;
use serde_json::{Value, json};
use std::collections::HashSet;

async fn reads(ready: &Ready, agent: &Registered) -> countersign_testkit::Answer {
    ready.plane.call(agent, Method::GET, "/calendar/events", "READ_CALENDAR").await
}

on_both_stores! {
    /// AAP-17.1-07, AAP-17.1-09, AAP-8.1-01
    async fn the_answer_is_an_opaque_token_with_its_time_session_and_policy(kit) {
        let ready = Ready::on(kit).await;
        let answer = ready.register(&ready.body_with(&ready.receipt())).await.expect(200);
        let schema = json!({
            "type": "object",
            "required": ["access_token", "token_type", "expires_in", "session_id", "effective_policy"],
            "properties": {
                "access_token": { "type": "string", "pattern": "^aat_[A-Za-z0-9_-]{43}$" },
                "token_type": { "const": "Bearer" },
                "expires_in": { "const": 3600 },
                "session_id": { "const": ready.receipt()["session_id"] },
                "effective_policy": {
                    "type": "object",
                    "required": ["expires_at"],
                    "properties": {
                        "expires_at": { "const": "2027-02-13T12:00:00.000Z" },
                        "on_events": { "const": ["user.offboarded"] },
                    },
                    "additionalProperties": false,
                },
                "effective_policy_sources": { "const": { "expires_at": ["service"], "on_events": ["service"] } },
            },
            "additionalProperties": false,
        });
        if let Err(why) = jsonschema::validate(&schema, &answer.json()) {
            panic!("{why}: {}", answer.text());
        }
        assert_eq!(answer.header("cache-control"), Some("no-store"));
    }

    /// AAP-17.1-10, AAP-17.1-11, AAP-17.1-13
    async fn registering_again_adds_a_token_to_the_same_session_and_the_ninth_drops_the_first(kit) {
        let ready = Ready::on(kit).await;
        let body = ready.body_with(&ready.receipt());
        let mut agents = Vec::new();
        for _ in 0..8 {
            agents.push(ready.plane.register_with(&body, Some(&ready.connected)).await);
        }
        assert_eq!(agents.iter().map(|agent| &agent.access_token).collect::<HashSet<_>>().len(), 8);
        assert_eq!(agents.iter().map(|agent| &agent.session_id).collect::<HashSet<_>>().len(), 1);
        for agent in &agents {
            reads(&ready, agent).await.expect(200);
        }
        agents.push(ready.plane.register_with(&body, Some(&ready.connected)).await);
        assert_eq!(reads(&ready, &agents[0]).await.refusal(), told(401, "access_token_invalid"));
        for agent in &agents[1..] {
            reads(&ready, agent).await.expect(200);
        }

        let query = format!("session_id={}", agents[0].session_id);
        let page = ready.plane.audit(ready.plane.acme(), &query).await.expect(200).json();
        let starts = |entry: &&Value| entry["event_type"].as_str().is_some_and(|kind| kind.starts_with("session_"));
        let started: Vec<&Value> = page["entries"].as_array().unwrap().iter().filter(starts).collect();
        assert_eq!(started.len(), 1, "{page:#}");
        assert_eq!(started[0]["event_type"], "session_started");
    }
}

/// AAP-13.3-01
#[tokio::test]
async fn session_ids_of_ours_are_random_and_have_no_part_in_common() {
    let ready = Ready::on(SQLITE).await;
    let mut ids = Vec::new();
    for _ in 0..100 {
        ids.push(ready.plane.register(ready.plane.acme(), &ready.connected).await.session_id);
    }
    let mut parts = HashSet::new();
    for id in &ids {
        let random = id.strip_prefix("sess_").unwrap();
        assert!(random.len() == 32 && random.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)), "{id}");
        // The clock stood still and the person was the same, so any common run of ten would come from them.
        for window in random.as_bytes().windows(10) {
            assert!(parts.insert(window.to_vec()), "{id} shares a part with another id");
        }
    }
}

/// AAP-13.3-01, AAP-13.3-02
#[tokio::test]
async fn a_session_id_that_could_be_guessed_is_refused() {
    let ready = Ready::on(SQLITE).await;
    for id in ["sess_abc", "sess_1234567890123456", "alice-2026-11-15", "task_0001", "sess_p7q3wr", "sess_p7q3wr00"] {
        let named = with(ready.body(), "session_id", json!(id));
        assert_eq!(ready.refusal(&named).await, told(400, "invalid_request"), "{id}");
        let receipt = ready.body_with(&with(ready.receipt(), "session_id", json!(id)));
        assert_eq!(ready.refusal(&receipt).await, told(401, "consent_invalid"), "{id}");
    }
    for id in ["7f9c24e8-3b1d-4f6a-9c57-2ad0e1b86f43", "sess_9f86d081884c7d659a2feaa0c55ad015"] {
        let named = with(ready.body(), "session_id", json!(id));
        for body in [named, ready.body_with(&with(ready.receipt(), "session_id", json!(id)))] {
            assert_eq!(ready.register(&body).await.expect(200).json()["session_id"], id);
        }
    }
}

/// AAP-13.3-02: published vectors have short ids.
#[tokio::test]
async fn in_test_mode_a_session_id_is_any_eight_to_128_characters() {
    let ready = Ready::with(SQLITE, Setup { test_mode: true, ..Setup::default() }).await;
    for id in ["sess_p7q".to_owned(), "sess_p7q3wr".into(), "11111111".into(), "s".repeat(128)] {
        let named = with(ready.body(), "session_id", json!(id));
        for body in [named, ready.body_with(&with(ready.receipt(), "session_id", json!(id)))] {
            assert_eq!(ready.register(&body).await.expect(200).json()["session_id"], id);
        }
    }
    for id in ["sess_p7".to_owned(), "s".repeat(129)] {
        let named = with(ready.body(), "session_id", json!(id));
        assert_eq!(ready.refusal(&named).await, told(400, "invalid_request"), "{id}");
        let receipt = ready.body_with(&with(ready.receipt(), "session_id", json!(id)));
        assert_eq!(ready.refusal(&receipt).await, told(401, "consent_invalid"), "{id}");
    }
}

/// The body cannot name another session than the receipt's.
#[tokio::test]
async fn the_session_is_the_one_that_the_receipt_names() {
    let ready = Ready::on(SQLITE).await;
    let body = ready.body_with(&ready.receipt());
    let other = with(body.clone(), "session_id", json!("7f9c24e8-3b1d-4f6a-9c57-2ad0e1b86f43"));
    assert_eq!(ready.refusal(&other).await, told(401, "consent_invalid"));
    let same = with(body, "session_id", ready.receipt()["session_id"].clone());
    assert_eq!(ready.register(&same).await.expect(200).json()["session_id"], ready.receipt()["session_id"]);
}
