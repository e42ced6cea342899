//! Malformed requests, and the form of every response.

use super::world::{World, complete, of, place, plan, without_account};
use countersign_protocol::clarification::SCHEMA;
use countersign_testkit::{Answer, on_sqlite};
use http::{Method, Request, header};
use serde_json::{Value, json};

const SESSION: &str = "00000000-0000-4000-8000-000000000001";

/// A 400 that names the fault.
fn named(answer: &Answer, what: &str) {
    assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{what}");
    let told = answer.json()["error_description"].as_str().unwrap().to_owned();
    assert!(told.starts_with(what), "{told} does not name {what}");
}

on_sqlite! {
    /// WWA-6.1-02, WWA-4-02, WWA-4-03
    async fn a_submission_that_is_none_is_refused_by_the_name_of_its_member(kit) {
        let world = World::made(kit).await;
        let with = |member: &str, value: Value| json!({ "plan_object": without_account(), member: value });
        for (what, body) in [
            ("plan_object", json!({})),
            ("plan_object", json!({ "plan_object": [1] })),
            ("plan_object", json!({ "plan_object": null })),
            ("plan_object", json!({ "plan_object": "pay" })),
            ("plan", with("plan", json!({}))),
            ("session_id", with("session_id", json!("s-1"))),
            ("session_id", with("session_id", json!("00000000-0000-1000-8000-000000000001"))),
            ("session_id", with("session_id", json!("0000000A-0000-4000-8000-000000000001"))),
            ("session_id", with("session_id", json!(null))),
            ("protocol_version", with("protocol_version", json!("2.0.0"))),
        ] {
            for below in ["submit-clarification", "scaffold-plan"] {
                named(&world.post(&world.agent, below, &body).await, what);
            }
        }
        let same = with("protocol_version", json!("1.0.0"));
        world.post(&world.agent, "submit-clarification", &same).await.expect(200);
    }

    /// WWA-6.2-01, WWA-4-03
    async fn an_answer_that_is_none_is_refused_by_the_name_of_its_member(kit) {
        let world = World::made(kit).await;
        let with = |member: &str, value: Value| {
            let mut body = json!({ "session_id": SESSION, "gap_id": "gap-001", "answer": "Reserve" });
            body[member] = value;
            body
        };
        for (what, body) in [
            ("session_id", json!({ "gap_id": "gap-001", "answer": "Reserve" })),
            ("gap_id", json!({ "session_id": SESSION, "answer": "Reserve" })),
            ("answer", json!({ "session_id": SESSION, "gap_id": "gap-001" })),
            ("answer", with("answer", json!(7))),
            ("answer", with("answer", json!(null))),
            ("session_id", with("session_id", json!("s-1"))),
            ("given_by", with("given_by", json!("person"))),
            ("answer_signature", with("answer_timestamp", json!("2026-05-10T15:00:00Z"))),
            ("answer_timestamp", with("answer_timestamp", json!("2026-05-10T15:00:00+00:00"))),
        ] {
            named(&world.post(&world.agent, "resolve-gap", &body).await, what);
        }
        for below in ["confirm-plan", "attest"] {
            named(&world.post(&world.agent, below, &json!({})).await, "session_id");
            named(&world.post(&world.agent, below, &json!({ "session_id": "s-1" })).await, "session_id");
            named(&world.post(&world.agent, below, &json!({ "session_id": SESSION, "force": true })).await, "force");
        }
        for below in ["list-gaps", "session-status", "audit", "handoff"] {
            named(&world.get(&world.agent, below).await, "session_id");
            named(&world.get(&world.agent, &format!("{below}?session_id=s-1")).await, "session_id");
            named(&world.get(&world.agent, &format!("{below}?session_id={SESSION}&session_id=x")).await, "the query");
        }
    }

    async fn a_body_that_can_be_read_in_two_ways_is_refused(kit) {
        let world = World::made(kit).await;
        let send = async |kind: &str, body: String| {
            let request = Request::post(place("submit-clarification"));
            let request = request.header(header::AUTHORIZATION, format!("Bearer {}", world.agent.token));
            world.plane.send(request.header(header::CONTENT_TYPE, kind).body(body.into()).unwrap()).await
        };
        let plain = json!({ "plan_object": without_account() }).to_string();
        assert_eq!(send("text/plain", plain).await.refusal(), (415, "unsupported_media_type".into()));
        let json = "application/json";
        for body in [r#"{"plan_object":{"a":1,"a":2}}"#, r#"{"plan_object":{"a":"\ud800"}}"#, "[]", "{"] {
            assert_eq!(send(json, body.into()).await.refusal(), (400, "invalid_request".into()), "{body}");
        }
        let large = plan(&json!({ "note": "x".repeat(1 << 21) }));
        let large = json!({ "plan_object": large }).to_string();
        assert_eq!(send(json, large.clone()).await.refusal(), (413, "payload_too_large".into()));
        let resolve = world.agent.send(&world.plane.public, Method::POST, &place("resolve-gap"), Some(large)).await;
        assert_eq!(resolve.refusal(), (413, "payload_too_large".into()));
    }

    /// WWA-1-02, WWA-4-01, WWA-4-03
    async fn every_message_is_as_the_schema_says_that_it_names(kit) {
        let world = World::made(kit).await;
        let served = world.plane.get("/specs/clarification-protocol.json").await.expect(200);
        assert_eq!(served.header("content-type"), Some("application/schema+json"));
        let schema = served.json();
        assert_eq!(schema["$id"], SCHEMA);
        let judge = jsonschema::validator_for(&schema).expect("a schema");
        let told = world.submits(&plan(&json!({}))).await;
        world.answers(&told, "account", "Reserve").await.expect(200);
        let after = world.get(&world.agent, &of("list-gaps", &told)).await.expect(200).json();
        let ready = world.submits(&complete()).await;
        for told in [&told, &after, &ready] {
            let message = &told["clarification"];
            let found: Vec<String> = judge.iter_errors(message).map(|why| why.to_string()).collect();
            assert!(found.is_empty(), "{found:?}: {message:#}");
            assert_eq!(message["$schema"], SCHEMA);
        }
        let mut broken = told["clarification"].clone();
        broken["session_id"] = json!("00000000-0000-1000-8000-000000000001");
        assert!(!judge.is_valid(&broken), "the schema holds ids to version 4");
    }
}
