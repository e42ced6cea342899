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
        assert_eq!(stage.alice.pending_questions(&stage.plane).await, 0);
        assert_eq!(stage.get(&stage.agent, "confirms").await.json()["items"], json!([]));
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
