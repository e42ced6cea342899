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
    /// AAEP-SCHEMA-15, AAEP-SCHEMA-16, AAEP-SCHEMA-20, AAEP-SCHEMA-21, AAEP-SCHEMA-22, AAEP-SCHEMA-25
    async fn a_confirmation_that_breaks_the_schema_is_refused_by_the_name_of_its_member(kit) {
        let DecisionFixture { plane, alice, agent } = kit.asked().await;
        let long = |length: usize| json!("x".repeat(length));
        for (member, wrong) in [
            ("action", long(0)),
            ("action", long(16385)),
            ("consequence", long(0)),
            ("consequence", long(16385)),
            ("summary_terse", long(0)),
            ("summary_terse", long(4097)),
            ("summary_normal", long(16385)),
            ("summary_detailed", long(16385)),
            ("timeout_seconds", json!(0)),
            ("timeout_seconds", json!(86401)),
            ("allowed_replies", json!([])),
            ("allowed_replies", json!(["reject", "reject"])),
            ("tool", json!("")),
            ("tool", json!("9lives")),
            ("tool", json!("rm -rf")),
            ("language", json!("no tag")),
            ("idempotency_key", long(0)),
            ("idempotency_key", long(257)),
            ("correlation_id", long(257)),
        ] {
            named(&agent.asks(&plane, &with(&json!({ member: wrong }))).await, member);
        }
        for (member, wrong, told) in [
            ("timeout_seconds", json!(1.5), "expected i64"),
            ("timeout_seconds", json!("60"), "expected i64"),
            ("default_decision", json!("maybe"), "unknown variant"),
            ("risk_level", json!("extreme"), "unknown variant"),
            ("irreversible", json!("yes"), "a boolean"),
            ("reversibility", json!("somehow"), "unknown variant"),
            ("allowed_replies", json!(["accept", "maybe"]), "unknown variant"),
            ("extra_context", json!([1]), "a map"),
            ("extra_context", json!("text"), "a map"),
            ("arguments", json!([1]), "a map"),
        ] {
            named(&agent.asks(&plane, &with(&json!({ member: wrong }))).await, told);
        }
        for member in ["action", "consequence"] {
            named(&agent.asks(&plane, &without(member)).await, member);
        }
        named(&agent.asks(&plane, &without("tool")).await, "arguments need the tool");
        assert_eq!(alice.waiting_questions(&plane).await, 0);
        for (n, seconds) in [1, 86400].into_iter().enumerate() {
            let right = json!({ "timeout_seconds": seconds, "arguments": { "n": n } });
            agent.asks(&plane, &with(&right)).await.expect(201);
        }
        // A tool's arguments must still fit beside it (R-29).
        for member in ["action", "consequence"] {
            named(&agent.asks(&plane, &with(&json!({ member: long(16384) }))).await, "cannot be shown in full");
            let mut words = json!({ "action": "Do it", "consequence": "It is done" });
            words[member] = long(16384);
            agent.asks(&plane, &words).await.expect(201);
        }
    }

    /// AAEP-6.5.2-07
    async fn a_clarification_offers_choices_where_one_may_be_the_answer(kit) {
        let DecisionFixture { plane, alice, agent } = kit.asked().await;
        let choice = |value: &str| json!({ "value": value, "label": "A label" });
        let many: Vec<Value> = (0..33).map(|n| choice(&n.to_string())).collect();
        for (change, told) in [
            (json!({ "question": "" }), "question"),
            (json!({ "question": "x".repeat(16385) }), "question"),
            (json!({ "accepted_response_kinds": [] }), "accepted_response_kinds"),
            (json!({ "accepted_response_kinds": ["yes_no", "yes_no"] }), "accepted_response_kinds"),
            (json!({ "accepted_response_kinds": ["shrug"] }), "unknown variant"),
            (json!({ "accepted_response_kinds": ["multiple_choice"] }), "choices"),
            (json!({ "accepted_response_kinds": ["multiple_choice"], "choices": [choice("a")] }), "choices"),
            (json!({ "accepted_response_kinds": ["multiple_choice"], "choices": many }), "choices"),
            (json!({ "choices": [choice("a"), choice("b")] }), "choices"),
            (json!({ "timeout_seconds": 0 }), "timeout_seconds"),
            (json!({ "context": "x".repeat(4097) }), "context"),
            (json!({ "default_response": "x".repeat(4097) }), "default_response"),
            (json!({ "language": "" }), "language"),
            (json!({ "idempotency_key": "" }), "idempotency_key"),
            (json!({ "tool": "payments.send" }), "tool"),
        ] {
            let mut body = json!({ "question": "Which account?" });
            body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
            named(&agent.clarifies(&plane, &body).await, told);
        }
        named(&agent.clarifies(&plane, &json!({})).await, "question");
        assert_eq!(alice.waiting_questions(&plane).await, 0);
    }

    async fn a_member_that_is_not_known_is_refused_by_its_name_on_every_path(kit) {
        let DecisionFixture { plane, alice, agent } = kit.asked().await;
        let asked = agent.asks_to(&plane, "payments.send", json!({})).await;
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
            named(&agent.asks(&plane, &with(&json!({ stamped: "x" }))).await, stamped);
        }
        assert_eq!(alice.waiting_questions(&plane).await, 1);
    }

    async fn a_body_that_is_no_json_object_or_too_large_is_refused_before_anything_is_looked_up(kit) {
        let DecisionFixture { plane, agent, .. } = kit.asked().await;
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
        let text = |length| "x".repeat(length);
        let much = json!({ "a": text(16384), "b": text(16384), "c": text(16384), "d": text(14300) });
        named(&agent.asks(&plane, &with(&json!({ "extra_context": much }))).await, "must not be over");
        let mut deep = json!(1);
        for _ in 0..9 {
            deep = json!({ "in": deep });
        }
        named(&agent.asks(&plane, &with(&json!({ "extra_context": deep }))).await, "extra_context");
    }

    async fn a_credential_in_words_for_people_is_refused_and_not_repeated(kit) {
        let DecisionFixture { plane, alice, agent } = kit.asked().await;
        let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
        for member in ["action", "consequence", "summary_normal", "correlation_id"] {
            let answer = agent.asks(&plane, &with(&json!({ member: format!("with {secret}") }))).await;
            named(&answer, member);
            assert!(!answer.text().contains(secret), "{}", answer.text());
        }
        let answer = agent.clarifies(&plane, &json!({ "question": format!("Is {secret} yours?") })).await;
        named(&answer, "question");
        assert!(!answer.text().contains(secret), "{}", answer.text());
        assert_eq!(alice.waiting_questions(&plane).await, 0);
    }

    async fn reasons_and_digests_have_their_bounds(kit) {
        let DecisionFixture { plane, alice, agent } = kit.asked().await;
        let asked = agent.asks_to(&plane, "payments.send", json!({})).await;
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
