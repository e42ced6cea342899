//! Malformed questions: refused with the reason before a person is asked.

use countersign_testkit::{
    Answer,
    decisions::{DecisionFixture, confirmation},
    on_sqlite,
};
use http::{Method, Request, header};
use serde_json::{Value, json};

const DECISION: &str = "/v1/decisions/dec_00000000000000000000000000000000";

fn with(change: &Value) -> Value {
    let mut body = confirmation("payments.send", json!({ "amount": 82 }));
    body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
    body
}

fn without(member: &str) -> Value {
    let mut body = with(&json!({}));
    body.as_object_mut().unwrap().remove(member);
    body
}

/// A 400 that names the fault.
fn named(answer: &Answer, what: &str) {
    assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{what}");
    let told = answer.json()["error_description"].as_str().unwrap().to_owned();
    assert!(told.contains(what), "{told} does not name {what}");
}

on_sqlite! {
    /// AAEP-SCHEMA-15, AAEP-SCHEMA-16, AAEP-SCHEMA-25, AAEP-6.5.2-07
    async fn a_question_that_breaks_the_schema_is_refused_by_the_name_of_its_member(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        for (member, wrong, told) in [
            ("action", json!(""), "action"),
            ("timeout_seconds", json!(86401), "timeout_seconds"),
            ("tool", json!("rm -rf"), "tool"),
            ("idempotency_key", json!("x".repeat(257)), "idempotency_key"),
            ("default_decision", json!("maybe"), "unknown variant"),
            ("extra_context", json!([1]), "a map"),
            ("consequence", json!("with ghp_0123456789abcdefghijABCDEFGHIJ012345"), "consequence"),
            // A tool's arguments must still fit beside it (R-29).
            ("action", json!("x".repeat(16384)), "cannot be shown in full"),
        ] {
            named(&agent.requests_confirmation(&plane, &with(&json!({ member: wrong }))).await, told);
        }
        for (member, told) in [("action", "action"), ("consequence", "consequence"), ("tool", "arguments need the tool")] {
            named(&agent.requests_confirmation(&plane, &without(member)).await, told);
        }
        for (change, told) in [
            (json!({ "question": "" }), "question"),
            (json!({ "accepted_response_kinds": ["shrug"] }), "unknown variant"),
            (json!({ "accepted_response_kinds": ["multiple_choice"] }), "choices"),
            (json!({ "tool": "payments.send" }), "tool"),
        ] {
            let mut body = json!({ "question": "Which account?" });
            body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
            named(&agent.requests_clarification(&plane, &body).await, told);
        }
        named(&agent.requests_clarification(&plane, &json!({})).await, "question");
        assert_eq!(alice.pending_questions(&plane).await, 0);
    }

    async fn a_member_that_is_not_known_is_refused_by_its_name_on_every_path(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let asked = agent.requests_approval(&plane, "payments.send", json!({})).await;
        let at = |below: &str| format!("/v1/decisions/{}/{below}", asked["decision_id"].as_str().unwrap());
        for (path, mut body) in [
            ("/v1/confirmations".to_owned(), with(&json!({}))),
            ("/v1/clarifications".to_owned(), json!({ "question": "Which?" })),
            (at("claim"), json!({ "tool": "payments.send" })),
            (at("outcome"), json!({ "status": "committed" })),
            (at("withdraw"), json!({})),
        ] {
            body["amount_raw"] = json!(1);
            named(&agent.post(&plane, &path, &body).await, "amount_raw");
        }
        for stamped in ["producer", "event_id", "reply_token", "timestamp", "approvers", "state"] {
            named(&agent.requests_confirmation(&plane, &with(&json!({ stamped: "x" }))).await, stamped);
        }
        assert_eq!(alice.pending_questions(&plane).await, 1);
    }

    async fn a_body_that_is_no_json_object_or_too_large_is_refused_before_anything_is_looked_up(kit) {
        let DecisionFixture { plane, agent, .. } = kit.decision_fixture().await;
        let paths = ["/v1/confirmations", "/v1/clarifications"].map(str::to_owned);
        let below = ["claim", "outcome", "withdraw"].map(|name| format!("{DECISION}/{name}"));
        for path in paths.iter().chain(&below) {
            let twice = r#"{"action":1,"action":2}"#;
            for broken in ["", "{", "[]", "null", "\"text\"", twice, "{\"n\":9007199254740993}"] {
                let answer = agent.send(&plane.public, Method::POST, path, Some(broken.into())).await;
                assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{path} {broken}");
            }
            let large = json!({ "action": "x".repeat(65 * 1024) }).to_string();
            let answer = agent.send(&plane.public, Method::POST, path, Some(large)).await;
            assert_eq!(answer.refusal(), (413, "payload_too_large".into()), "{path}");
            let form = Request::post(path.as_str()).header(header::AUTHORIZATION, format!("Bearer {}", agent.token));
            let answer = plane.send(form.body("action=x".into()).unwrap()).await;
            assert_eq!(answer.refusal(), (415, "unsupported_media_type".into()), "{path}");
        }
    }

    async fn reasons_and_digests_have_their_bounds(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let asked = agent.requests_approval(&plane, "payments.send", json!({})).await;
        for reason in ["".to_owned(), "x".repeat(4097)] {
            named(&agent.withdraws(&plane, &asked, &json!({ "reason": reason })).await, "reason");
        }
        alice.accepts(&plane, &asked).await;
        for body in [
            json!({}),
            json!({ "arguments": {} }),
            json!({ "digest": "abc" }),
            json!({ "digest": asked["digest"], "tool": "payments.send" }),
            json!({ "digest": asked["digest"], "arguments": {} }),
        ] {
            let answer = agent.claims(&plane, &asked, &body).await;
            assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{body}");
        }
        agent.claims(&plane, &asked, &json!({ "digest": asked["digest"] })).await.expect(200);
        let outcome = format!("/v1/decisions/{}/outcome", asked["decision_id"].as_str().unwrap());
        for message in ["".to_owned(), "x".repeat(4097)] {
            let body = json!({ "status": "failed", "error_message": message });
            named(&agent.post(&plane, &outcome, &body).await, "error_message");
        }
        named(&agent.reports(&plane, &asked, "perhaps").await, "unknown variant");
    }
}
