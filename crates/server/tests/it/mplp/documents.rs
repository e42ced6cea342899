//! Refusals before a person is asked: each names the member, and nothing is stored.

use super::{Stage, archiving, confirm, id, plan, step};
use countersign_testkit::on_sqlite;
use http::{Method, Request, header};
use serde_json::{Value, json};

/// A document with one change. A change to null removes the member.
fn with(mut document: Value, pointer: &str, value: Value) -> Value {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let parent = document.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    match value {
        Value::Null => drop(parent.remove(name)),
        value => drop(parent.insert(name.into(), value)),
    }
    document
}

async fn refused(stage: &Stage, below: &str, body: &Value, member: &str) {
    let answer = stage.post(&stage.agent, below, body).await;
    assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{body}");
    let said = answer.json()["error_description"].as_str().unwrap().to_owned();
    assert!(said.contains(member), "{member} is not named in {said:?}");
}

on_sqlite! {
    /// MPLP-2.1-01, MPLP-2.1-03, MPLP-2.1-06, MPLP-2.1-07
    async fn each_of_the_seven_members_of_a_confirm_is_demanded(kit) {
        let stage = Stage::set(kit).await;
        let required =
            ["meta", "confirm_id", "target_type", "target_id", "status", "requested_by_role", "requested_at"];
        for member in required {
            let without = with(confirm("context", 1), &format!("/{member}"), Value::Null);
            refused(&stage, "confirms", &without, member).await;
            refused(&stage, "confirms/imports", &without, member).await;
        }
        assert_eq!(stage.alice.waiting_questions(&stage.plane).await, 0);
        assert_eq!(stage.get(&stage.agent, "confirms").await.json()["items"], json!([]));
    }

    /// MPLP-2.1-02, MPLP-2.1-04, MPLP-2.4-01
    async fn ids_are_bare_lower_case_uuids_of_version_4_and_nothing_is_normalised(kit) {
        let stage = Stage::set(kit).await;
        let decided = json!([{ "decision_id": id(5), "status": "approved", "decided_by_role": "boss",
            "decided_at": "2025-12-07T00:00:00Z" }]);
        let others = [
            "confirm-00000000-0000-4000-8000-000000000001",
            "plan-123",
            "3F2B8C1D-5E6F-4A7B-8C9D-0E1F2A3B4C5D",
            "123e4567-e89b-12d3-a456-426614174000",
            "",
        ];
        for other in others {
            for member in ["confirm_id", "target_id"] {
                let changed = with(confirm("context", 1), &format!("/{member}"), json!(other));
                refused(&stage, "confirms", &changed, member).await;
                refused(&stage, "confirms/imports", &changed, member).await;
            }
            let mut decisions = decided.clone();
            decisions[0]["decision_id"] = json!(other);
            let imported = with(confirm("context", 1), "/decisions", decisions);
            refused(&stage, "confirms/imports", &imported, "decisions[0].decision_id").await;
            for member in ["plan_id", "context_id"] {
                refused(&stage, "plans", &with(plan(1, 1), &format!("/{member}"), json!(other)), member).await;
            }
            refused(&stage, "plans", &with(plan(1, 1), "/steps/0/step_id", json!(other)), "steps[0].step_id").await;
        }
        for other in &others[..4] {
            for below in [format!("plans/{other}"), format!("confirms/{other}"), format!("plans/{other}/actions")] {
                let answer = stage.get(&stage.agent, &below).await;
                assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{below}");
            }
        }
        assert_eq!(stage.get(&stage.agent, "plans").await.json()["items"], json!([]));
    }

    /// MPLP-2.1-01, MPLP-2.1-07, MPLP-2.2-01, MPLP-2.2-02, MPLP-2.2-03, MPLP-2.2-04, MPLP-2.2-05, MPLP-2.3-01,
    /// MPLP-3.1-01
    async fn unknown_members_of_closed_schemas_are_refused_and_open_ones_are_taken(kit) {
        let stage = Stage::set(kit).await;
        let event = |event_type: &str| json!([{ "event_id": id(7), "event_type": event_type, "source": "x",
            "timestamp": "2025-12-07T00:00:00Z" }]);
        for (pointer, value, member) in [
            ("/meta", json!({ "protocolVersion": "1.0.0" }), "meta"),
            ("/meta/source", json!("mplp-runtime"), "meta.source"),
            ("/meta/schema_version", json!("2.0"), "meta.schema_version"),
            ("/target_type", json!("step"), "target_type"),
            ("/target_type", json!("delta"), "target_type"),
            ("/status", json!("override"), "status"),
            ("/requested_by_role", json!(7), "requested_by_role"),
            ("/requested_at", json!("2025-12-07"), "requested_at"),
            ("/requested_at", json!(1_765_065_600), "requested_at"),
            ("/reason", json!(7), "reason"),
            ("/decisions", json!({}), "decisions"),
            ("/trace", json!({ "trace_id": id(8) }), "trace.span_id"),
            ("/trace", json!({ "trace_id": id(8), "span_id": id(9), "parent": id(7) }), "trace.parent"),
            ("/events", event("confirm_requested"), "events[0].event_type"),
            ("/governance", json!({ "lifecycle_phase": "x" }), "governance.lifecycle_phase"),
            ("/governance", json!({ "owner": "x" }), "governance.owner"),
            ("/priority", json!(1), "priority"),
        ] {
            refused(&stage, "confirms", &with(confirm("context", 1), pointer, value), member).await;
        }
        for (n, (pointer, value)) in [
            ("/meta/schema_version", json!("2.0.0")),
            ("/reason", Value::Null),
            ("/decisions", json!([])),
            ("/trace", json!({ "trace_id": id(8), "span_id": id(9) })),
            ("/events", event("confirm.requested")),
            ("/governance", json!({ "lifecyclePhase": "x", "truthDomain": "y", "locked": false })),
        ].into_iter().enumerate() {
            let sent = with(confirm("context", 10 + n as u64), pointer, value);
            stage.post(&stage.agent, "confirms", &sent).await.expect(201);
        }
    }

    /// MPLP-2.4-02, MPLP-2.4-06
    async fn a_decision_is_one_of_three_words_with_permitted_members_only(kit) {
        let stage = Stage::set(kit).await;
        let asked = stage.asked("context", 1).await;
        for (body, member) in [
            (json!({}), "status"),
            (json!({ "status": "pending" }), "status"),
            (json!({ "status": "override" }), "status"),
            (json!({ "status": "approved", "reason": 7 }), "reason"),
            (json!({ "status": "approved", "decided_at": "2025-12-07T00:00:00Z" }), "decided_at"),
            (json!({ "status": "approved", "decision_id": id(3) }), "decision_id"),
            (json!({ "status": "approved", "steps": ["step-1"] }), "steps[0]"),
        ] {
            let answer = stage.decides(&stage.device, &asked, &body).await;
            assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{body}");
            assert!(answer.json()["error_description"].as_str().unwrap().contains(member), "{}", answer.text());
        }
        assert_eq!(stage.confirm(&asked).await, asked);
    }

    /// MPLP-7-01
    async fn the_published_example_is_refused_and_its_corrected_twin_is_taken(kit) {
        let stage = Stage::set(kit).await;
        let example = json!({
            "meta": { "protocolVersion": "1.0.0", "source": "mplp-runtime" },
            "confirm_id": "confirm-550e8400-e29b-41d4-a716-446655440004",
            "target_type": "plan",
            "target_id": "plan-550e8400-e29b-41d4-a716-446655440001",
            "status": "approved",
            "requested_by_role": "role-planner-001",
            "requested_at": "2025-12-07T00:00:00.000Z",
            "decisions": [{ "decision_id": "decision-001", "status": "approved",
                "decided_by_role": "role-reviewer-001", "decided_at": "2025-12-07T00:05:00.000Z" }],
        });
        for below in ["confirms", "confirms/imports"] {
            let answer = stage.post(&stage.agent, below, &example).await;
            assert_eq!(answer.refusal(), (400, "invalid_request".into()));
        }
        let twin = with(example, "/meta", json!({ "protocol_version": "1.0.0", "schema_version": "1.0.0" }));
        let twin = with(twin, "/confirm_id", json!("550e8400-e29b-41d4-a716-446655440004"));
        let twin = with(twin, "/target_id", json!("550e8400-e29b-41d4-a716-446655440001"));
        let twin = with(twin, "/decisions/0/decision_id", json!(id(1)));
        stage.post(&stage.agent, "confirms/imports", &twin).await.expect(201);
    }

    /// R-7
    async fn a_plan_that_could_not_run_as_it_is_written_is_refused_with_the_step_named(kit) {
        let stage = Stage::set(kit).await;
        let circle = with(plan(1, 2), "/steps/0/dependencies", json!([step(1, 2)]));
        refused(&stage, "plans", &circle, "steps").await;
        refused(&stage, "plans", &with(plan(1, 2), "/steps/0/dependencies", json!([id(77)])), "steps[0]").await;
        refused(&stage, "plans", &with(plan(1, 2), "/steps/1/step_id", json!(step(1, 1))), "step").await;
        refused(&stage, "plans", &with(plan(1, 1), "/steps", json!([])), "steps").await;
        refused(&stage, "plans", &plan(1, 201), "steps").await;
        refused(&stage, "plans", &with(plan(1, 1), "/status", json!("pending_approval")), "status").await;
        refused(&stage, "plans", &with(plan(1, 1), "/governance", json!({ "locked": true })), "governance").await;
        let place = format!("/actions/{}", step(1, 1));
        for (below, value, said) in [
            ("/uses", json!(0), "uses"),
            ("/uses", json!(10_001), "uses"),
            ("/route", json!("nowhere"), "either tool or route"),
            ("/tool", json!("payments.send"), "release none"),
            ("/released", json!({ "other": { "text": 5 } }), "other"),
            ("/released", json!({ "note": { "one_of": [] } }), "one_of"),
            ("/released", json!({ "note": { "one_of": ["b"] } }), "note"),
        ] {
            refused(&stage, "plans", &with(archiving(1, 1), &format!("{place}{below}"), value), said).await;
        }
        let elsewhere = with(archiving(1, 1), &format!("/actions/{}", id(5)), json!({ "tool": "notes.archive" }));
        refused(&stage, "plans", &elsewhere, "actions").await;
        refused(&stage, "plans", &with(archiving(1, 1), "/lasts_seconds", json!(86_401)), "lasts_seconds").await;
        stage.post(&stage.agent, "plans", &plan(1, 200)).await.expect(201);
    }

    /// R-3
    async fn a_body_is_labelled_json_within_the_size_limit(kit) {
        let stage = Stage::set(kit).await;
        let send = |kind: &'static str, path: &str, body: String| {
            let request = Request::builder().method(Method::POST).uri(format!("/mplp/v1/{path}"));
            let request = request.header(header::AUTHORIZATION, format!("Bearer {}", stage.agent.token));
            stage.plane.send(request.header(header::CONTENT_TYPE, kind).body(body.into()).unwrap())
        };
        let body = plan(1, 1).to_string();
        for kind in ["text/plain", "application/x-www-form-urlencoded", ""] {
            let answer = send(kind, "plans", body.clone()).await;
            assert_eq!(answer.refusal(), (415, "unsupported_media_type".into()));
            let answer = send(kind, &format!("plans/{}/cancel", id(1)), "{}".into()).await;
            assert_eq!(answer.refusal(), (415, "unsupported_media_type".into()));
        }
        let twice = body.replacen('{', r#"{"title":"a","title":"b","#, 1);
        assert_eq!(send("application/json", "plans", twice).await.refusal(), (400, "invalid_request".into()));
        assert_eq!(send("application/json", "plans", "[]".into()).await.refusal(), (400, "invalid_request".into()));
        assert_eq!(send("application/json", "plans", "{".into()).await.refusal(), (400, "invalid_request".into()));
        let filled = |bytes: usize| {
            let mut long = plan(1, 1);
            let rest = bytes - long.to_string().len();
            long["objective"] = json!(format!("The notes are in order{}", "x".repeat(rest)));
            long.to_string()
        };
        let beyond = send("application/json", "plans", filled(100 * 1024 + 1)).await;
        assert_eq!(beyond.refusal(), (413, "payload_too_large".into()));
        send("application/json; charset=utf-8", "plans", filled(100 * 1024)).await.expect(201);
        let large = with(confirm("context", 1), "/reason", json!("x".repeat(64 * 1024))).to_string();
        assert_eq!(send("application/json", "confirms", large).await.refusal(), (413, "payload_too_large".into()));
    }
}
