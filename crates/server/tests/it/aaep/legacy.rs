//! The pair of paths for clients without credentials: a token in the address, no handshake, no subscription (R-11).

use axum::body::Body;
use countersign_server::{LogTo, logs_to};
use countersign_testkit::{
    Answer, Kit, Plane, Setup, TestAgent, TestPerson,
    aaep::{ReceivedEvents, Subscriber, subscription_request},
    aaep_judge::judge_message,
    decisions::DecisionFixture,
    leaks::Haystack,
    on_sqlite,
};
use http::{Method, Request};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

pub(super) const HOST: &str = "api.example.test";

pub(super) fn switched_on() -> Setup {
    Setup::payments_with(|document| document.decisions.legacy_subscribers = true)
}

pub(super) struct Legacy {
    pub(super) plane: Plane,
    pub(super) alice: TestPerson,
    pub(super) agent: TestAgent,
    pub(super) nvda: Subscriber,
}

impl Legacy {
    pub(super) async fn on(kit: Kit) -> Self {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture_with(switched_on()).await;
        let nvda =
            alice.subscriber_like(&plane, json!({ "name": "nvda", "legacy": true, "approves_high_risk": true })).await;
        Self { plane, alice, agent, nvda }
    }

    async fn hears(&self) -> ReceivedEvents {
        ReceivedEvents::open(&self.plane.public, get(&self.nvda.legacy("events"))).await
    }

    async fn sends(&self, message: &Value) -> Answer {
        Answer::to(&self.plane.public, post(&self.nvda.legacy("messages"), message.to_string())).await
    }

    async fn state(&self, decision: &Value) -> Value {
        self.agent.reads_decision(&self.plane, decision).await.json()["state"].clone()
    }

    /// The reply that published clients send.
    fn yes(&self, question: &Value) -> Value {
        json!({ "type": "confirmation.reply", "reply_token": question["reply_token"], "decision": "accept",
            "timestamp": "2026-11-15T12:00:00.915170+00:00" })
    }
}

pub(super) fn get(path: &str) -> Request<Body> {
    Request::get(path).header("host", HOST).body(Body::empty()).unwrap()
}

pub(super) fn post(path: &str, body: String) -> Request<Body> {
    let request = Request::post(path).header("host", HOST).header("content-type", "application/json");
    request.body(Body::from(body)).unwrap()
}

on_sqlite! {
    /// AAEP-6.3.1-06, R-11
    async fn there_is_nothing_at_the_address_unless_project_and_token_are_for_it(kit) {
        let off = kit.decision_fixture().await;
        let plain = off.alice.subscriber(&off.plane).await;
        let on = Legacy::on(kit).await;
        let other_kind = on.alice.subscriber(&on.plane).await;
        let mut unknown = plain.clone();
        unknown.token = "cst_guessed".into();
        let mut told = Vec::new();
        for (plane, subscriber) in [(&off.plane, &plain), (&on.plane, &other_kind), (&on.plane, &unknown)] {
            for request in [get(&subscriber.legacy("events")), post(&subscriber.legacy("messages"), "{}".into())] {
                let answer = Answer::to(&plane.public, request).await;
                assert_eq!(answer.refusal(), (404, "not_found".into()));
                told.push((answer.json()["error_description"].clone(), answer.json()["hint"].clone()));
            }
        }
        assert!(told.iter().all(|answer| *answer == told[0]), "{told:?}");
        for path in [on.nvda.legacy(""), on.nvda.legacy("other"), on.nvda.legacy("events/more")] {
            assert_eq!(Answer::to(&on.plane.public, get(&path)).await.status, 404, "{path}");
        }
    }

    /// R-11
    async fn a_typed_reply_is_acknowledged_on_the_stream(kit) {
        let legacy = Legacy::on(kit).await;
        let input = json!({ "kind": "user_input", "text": "book the small room in Lagos" });
        legacy.sends(&subscription_request(json!({}))).await.expect(202);
        legacy.sends(&input).await.expect(202);
        let mut heard = legacy.hears().await;
        judge_message("subscription.accepted", &heard.message().await);
        let accepted = heard.message().await;
        assert_eq!(accepted["kind"], "user_input.accepted");
        assert!(accepted["session_id"].as_str().is_some_and(|id| id.starts_with("sess_")), "{accepted}");
        let session = legacy.agent.opens_session(&legacy.plane).await;
        heard.next_of("session.started").await;
        legacy.sends(&input).await.expect(202);
        assert_eq!(heard.message().await, json!({ "kind": "user_input.accepted", "session_id": session }));
        assert_eq!(legacy.sends(&json!({ "kind": "something_else" })).await.status, 400);
    }

    /// R-11
    async fn switching_the_pair_off_or_taking_the_token_back_ends_it(kit) {
        let legacy = Legacy::on(kit).await;
        let mut heard = legacy.hears().await;
        let id = format!("/aaep/v1/subscriber-tokens/{}", legacy.nvda.token_id);
        legacy.alice.send(&legacy.plane, Method::DELETE, &id, &Value::Null).await.expect(200);
        heard.rest().await;
        assert_eq!(Answer::to(&legacy.plane.public, get(&legacy.nvda.legacy("events"))).await.status, 404);

        let other = legacy.alice.subscriber_like(&legacy.plane, json!({ "name": "react", "legacy": true, "approves_high_risk": true })).await;
        let off = countersign_testkit::decisions::payments("calendar");
        legacy.plane.engine.apply_project(off, "test").await.unwrap();
        assert_eq!(Answer::to(&legacy.plane.public, get(&other.legacy("events"))).await.status, 404);
    }

    /// AAEP-6.3.1-06, C15, C17
    async fn a_client_without_a_handshake_hears_unnamed_events_and_answers_without_a_subscription(kit) {
        let legacy = Legacy::on(kit).await;
        let mut heard = legacy.hears().await;
        assert!(heard.line().await.unwrap().retry.is_some());
        let decision = legacy.agent.requests_approval(&legacy.plane, "payments.send", json!({})).await;
        let line = heard.line().await.unwrap();
        assert_eq!((line.event, line.id.is_some()), (None, true));
        let question = heard.next_of("awaiting.confirmation").await;
        let reply = legacy.yes(&question);
        // Only here: elsewhere a reply names its subscription.
        let mut named = legacy.nvda.clone();
        named.subscription_id = String::new();
        assert_eq!(named.replies(&legacy.plane, &reply).await.refusal(), (400, "invalid_request".into()));
        assert_eq!(legacy.state(&decision).await, "pending");
        assert_eq!(legacy.sends(&reply).await.status, 204);
        assert_eq!(legacy.state(&decision).await, "accepted");
        assert_eq!(heard.next_of("state.changed").await["to_state"], "calling_tool");
        assert_eq!(legacy.sends(&reply).await.status, 204, "a second time changes nothing");
    }

    /// AAEP-6.3.1-06
    async fn an_unknown_subscription_in_a_reply_does_not_matter_here(kit) {
        let legacy = Legacy::on(kit).await;
        let mut heard = legacy.hears().await;
        let decision = legacy.agent.requests_approval(&legacy.plane, "payments.send", json!({})).await;
        let question = heard.next_of("awaiting.confirmation").await;
        let mut reply = legacy.yes(&question);
        reply["subscription_id"] = json!("sub_11111111111111111111111111111111");
        assert_eq!(legacy.sends(&reply).await.status, 204);
        assert_eq!(legacy.state(&decision).await, "accepted");
    }

    /// R-11
    async fn an_invalid_message_is_refused_here_as_well(kit) {
        let legacy = Legacy::on(kit).await;
        let path = legacy.nvda.legacy("messages");
        for text in ["", "nonsense", "{}", r#"{"type":"confirmation.reply"}"#, r#"{"kind":"something_else"}"#] {
            let answer = Answer::to(&legacy.plane.public, post(&path, text.into())).await;
            assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{text}");
        }
        let large = Answer::to(&legacy.plane.public, post(&path, " ".repeat(70_000))).await;
        assert_eq!(large.refusal(), (413, "payload_too_large".into()));
        let form = Request::post(&path).header("host", HOST).header("content-type", "text/plain").body(Body::from("{}")).unwrap();
        assert_eq!(Answer::to(&legacy.plane.public, form).await.refusal(), (400, "invalid_request".into()));
    }

    /// S3
    async fn a_handshake_is_answered_on_the_stream_ahead_of_everything_else(kit) {
        let legacy = Legacy::on(kit).await;
        let mut heard = legacy.hears().await;
        let request = subscription_request(json!({ "preferred_verbosity": "terse" }));
        assert_eq!(legacy.sends(&request).await.status, 202);
        let accepted = heard.message().await;
        judge_message("subscription.accepted", &accepted);
        assert_eq!(accepted["honored_capabilities"]["preferred_verbosity"], "terse");
        let mut wrong = request.clone();
        wrong["aaep_version"] = json!("0.1.0");
        assert_eq!(legacy.sends(&wrong).await.status, 202);
        judge_message("subscription.rejected", &heard.message().await);
        let decision = legacy.agent.requests_approval(&legacy.plane, "payments.send", json!({})).await;
        let question = heard.next_of("awaiting.confirmation").await;
        assert_eq!(legacy.sends(&legacy.yes(&question)).await.status, 204);
        assert_eq!(legacy.state(&decision).await, "accepted");
    }

    /// S3
    async fn a_stream_that_opens_after_the_handshake_begins_with_its_answer(kit) {
        let legacy = Legacy::on(kit).await;
        assert_eq!(legacy.sends(&subscription_request(json!({}))).await.status, 202);
        legacy.agent.requests_approval(&legacy.plane, "payments.send", json!({})).await;
        let mut heard = legacy.hears().await;
        judge_message("subscription.accepted", &heard.message().await);
        heard.next_of("awaiting.confirmation").await;
    }

    /// AAEP 5.8
    async fn closing_ends_the_stream(kit) {
        let legacy = Legacy::on(kit).await;
        let mut heard = legacy.hears().await;
        let close = json!({ "type": "subscription.close", "reason_code": "done" });
        assert_eq!(legacy.sends(&close).await.status, 204);
        heard.rest().await;
    }

    /// R-11
    async fn choices_are_offered_by_their_labels_and_answered_by_them(kit) {
        let legacy = Legacy::on(kit).await;
        let mut heard = legacy.hears().await;
        let (_, mut strict) = legacy.alice.subscribed(&legacy.plane).await;
        let body = json!({ "question": "Which airport?", "accepted_response_kinds": ["multiple_choice"],
            "choices": [{ "value": "lhr", "label": "Heathrow" }, { "value": "lgw", "label": "Gatwick" }] });
        let decision = legacy.agent.requests_clarification(&legacy.plane, &body).await.expect(201).json();
        let question = loop {
            let message = heard.message().await;
            if message["type"] == "aaep:agent.awaiting.clarification" {
                break message;
            }
        };
        assert_eq!(question["options"], json!(["Heathrow", "Gatwick"]));
        assert_eq!(strict.next_of("awaiting.clarification").await.get("options"), None);
        let reply = json!({ "type": "clarification.reply", "reply_token": question["reply_token"],
            "response": "Gatwick", "timestamp": "2026-11-15T12:00:00.915170+00:00" });
        assert_eq!(legacy.sends(&reply).await.status, 204);
        assert_eq!(legacy.agent.reads_decision(&legacy.plane, &decision).await.json()["response"], "lgw");
    }

    /// R-11
    async fn the_token_is_in_no_line_of_the_log_and_in_no_figure(kit) {
        let buffer = Arc::new(Mutex::new(Vec::new()));
        let legacy = Legacy::on(kit).await;
        {
            let _here = tracing::subscriber::set_default(logs_to(LogTo::Buffer(Arc::clone(&buffer)), true, "trace"));
            let mut heard = legacy.hears().await;
            legacy.agent.requests_approval(&legacy.plane, "payments.send", json!({})).await;
            let question = heard.next_of("awaiting.confirmation").await;
            legacy.sends(&legacy.yes(&question)).await;
            legacy.sends(&json!({ "type": "nothing" })).await;
            for path in [legacy.nvda.legacy("elsewhere"), format!("/nowhere/{}", legacy.nvda.token)] {
                let refused = Answer::to(&legacy.plane.public, get(&path)).await;
                assert!(!refused.text().contains(&legacy.nvda.token));
            }
        }
        let log = Haystack::new("the log", buffer.lock().unwrap().clone());
        log.assert_present("the stream", "/aaep/legacy/…/events");
        log.assert_present("the reply", "/aaep/legacy/…/messages");
        log.assert_absent("the token", &legacy.nvda.token);
        let figures = Answer::to(&legacy.plane.operations, get("/metrics")).await.expect(200).body;
        Haystack::new("the figures", figures).assert_absent("the token", &legacy.nvda.token);
    }
}
