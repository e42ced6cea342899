//! The response to a reply depends on the sender's credentials and the message's form, never on a question (C4, R-9).

use super::Waiting;
use countersign_server::{LogTo, logs_to};
use countersign_testkit::{Answer, leaks::Haystack, on_sqlite};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// Every part of a response that its sender sees, except the request id.
fn seen(answer: &Answer) -> (u16, Vec<(String, String)>, Value) {
    let mut headers: Vec<(String, String)> =
        answer.headers.iter().map(|(n, v)| (n.to_string(), v.to_str().unwrap().into())).collect();
    headers.retain(|(name, _)| name != "x-request-id" && name != "date");
    headers.sort();
    let mut body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    if let Some(members) = body.as_object_mut() {
        members.remove("request_id");
    }
    (answer.status, headers, body)
}

const INVENTED: &str = "rpl_00000000000000000000000000000000";

/// Tokens of a pending question, an answered one, an expired one, a cancelled one and another person's one, and a token
/// that was never issued.
async fn tokens(waiting: &mut Waiting) -> Vec<String> {
    let mut found = vec![INVENTED.to_owned()];
    let token = |question: &Value| question["reply_token"].as_str().unwrap().to_owned();
    let (plane, agent) = (&waiting.plane, &waiting.agent);

    agent.requests_approval(plane, "mail.send", json!({ "n": "answered" })).await;
    let question = waiting.heard.next_of("awaiting.confirmation").await;
    waiting.phone.rejects(plane, &question).await.expect(204);
    found.push(token(&question));

    let off = agent.requests_approval(plane, "mail.send", json!({ "n": "called off" })).await;
    let question = waiting.heard.next_of("awaiting.confirmation").await;
    agent.withdraws(plane, &off, &json!({})).await.expect(200);
    found.push(token(&question));

    agent.requests_approval(plane, "notes.archive", json!({ "n": "expired" })).await;
    let question = waiting.heard.next_of("awaiting.confirmation").await;
    plane.advance_secs(question["timeout_seconds"].as_i64().unwrap() + 1).await;
    found.push(token(&question));

    let bob = plane.person("bob").await;
    let (_, mut of_bob) = bob.subscribed(plane).await;
    plane
        .agent_key("bob", countersign_testkit::decisions::ALL)
        .await
        .requests_approval(plane, "mail.send", json!({}))
        .await;
    found.push(token(&of_bob.next_of("awaiting.confirmation").await));

    agent.requests_approval(plane, "mail.send", json!({ "n": "waits" })).await;
    found.push(token(&waiting.heard.next_of("awaiting.confirmation").await));
    found
}

on_sqlite! {
    /// AAEP-6.3.4-09, AAEP-6.3.5-02
    async fn every_sound_reply_is_answered_alike_for_any_token(kit) {
        let mut waiting = Waiting::on(kit).await;
        let tokens = tokens(&mut waiting).await;
        let mut answers = Vec::new();
        for token in &tokens {
            answers.push(seen(&waiting.replies(&waiting.yes_but(|reply| reply["reply_token"] = json!(token))).await));
        }
        assert_eq!(answers[0].0, 204);
        assert_eq!(answers[0].2, Value::Null);
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:#?}");
        assert_eq!(answers.len(), 6);
    }

    /// AAEP-6.3.4-10
    async fn a_refusal_is_the_same_for_any_token(kit) {
        let mut waiting = Waiting::on(kit).await;
        let tokens = tokens(&mut waiting).await;
        let mut nobody = waiting.phone.clone();
        nobody.token = "cst_guessed".into();
        let (mut malformed, mut oversized, mut unproven) = (Vec::new(), Vec::new(), Vec::new());
        for token in &tokens {
            let reply = waiting.yes_but(|reply| reply["reply_token"] = json!(token));
            let mut wrong = reply.clone();
            wrong["decision"] = json!("perhaps");
            malformed.push(seen(&waiting.replies(&wrong).await));
            wrong["decision_rationale"] = json!("x".repeat(70_000));
            oversized.push(seen(&waiting.replies(&wrong).await));
            unproven.push(seen(&nobody.replies(&waiting.plane, &reply).await));
        }
        for (answers, status) in [(malformed, 400), (oversized, 413), (unproven, 401)] {
            assert_eq!(answers[0].0, status);
            assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:#?}");
        }
    }

    /// AAEP-6.3.4-08
    async fn a_reply_that_did_not_count_is_in_the_log_with_its_reason_and_without_the_token(kit) {
        let mut waiting = Waiting::on(kit).await;
        let tokens = tokens(&mut waiting).await;
        let buffer = Arc::new(Mutex::new(Vec::new()));
        {
            let _here = tracing::subscriber::set_default(logs_to(LogTo::Buffer(Arc::clone(&buffer)), false, "trace"));
            for token in &tokens[..5] {
                waiting.replies(&waiting.yes_but(|reply| reply["reply_token"] = json!(token))).await;
            }
            let closed = "sub_00000000000000000000000000000000";
            waiting.replies(&waiting.yes_but(|reply| reply["subscription_id"] = json!(closed))).await;
        }
        let log = Haystack::new("the log", buffer.lock().unwrap().clone());
        for reason in ["there is no such question", "the question is settled already", "this person may not decide this",
            "its subscription is closed, or somebody else's"] {
            log.assert_present("the reason", reason);
        }
        for token in &tokens {
            log.assert_absent("a reply token", token);
        }
        log.assert_absent("a subscriber token", &waiting.phone.token);
    }
}
