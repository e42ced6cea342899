//! Test subscribers: with a person's token, over streams and sockets. The oracles check everything they receive.

mod event_stream;
mod socket;

pub use event_stream::{ReceivedEvents, StreamLine};
pub use socket::{ListeningPlane, Socket, SocketMessage};

use crate::{Answer, Plane, TestAgent, TestPerson, aaep_judge};
use axum::body::Body;
use countersign_protocol::{aaep::envelope::timestamp, time::UnixMillis};
use http::{Method, Request, header};
use serde_json::{Value, json};

/// A subscriber with a person's token.
#[derive(Clone, Debug)]
pub struct Subscriber {
    pub token: String,
    pub token_id: String,
    /// The subscription that it opened last.
    pub subscription_id: String,
}

impl TestPerson {
    /// Creates a token that may answer everything.
    pub async fn subscriber(&self, plane: &Plane) -> Subscriber {
        self.subscriber_like(plane, json!({ "name": "kitchen speaker", "approves_high_risk": true })).await
    }

    pub async fn subscriber_like(&self, plane: &Plane, new: Value) -> Subscriber {
        let added = self.post(plane, "/aaep/v1/subscriber-tokens", &new).await.expect(201).json();
        let text = |name: &str| added[name].as_str().expect("a token").to_owned();
        Subscriber { token: text("token"), token_id: text("id"), subscription_id: String::new() }
    }

    /// A subscriber with a subscription on the usual terms, and its open stream.
    pub async fn subscribed(&self, plane: &Plane) -> (Subscriber, ReceivedEvents) {
        let mut subscriber = self.subscriber(plane).await;
        subscriber.subscribes(plane).await;
        let heard = subscriber.opens_stream(plane).await;
        (subscriber, heard)
    }
}

impl Subscriber {
    /// Subscribes with all reply capabilities; returns the accepted document.
    pub async fn subscribes(&mut self, plane: &Plane) -> Value {
        self.subscribes_with(plane, json!({})).await
    }

    pub async fn subscribes_with(&mut self, plane: &Plane, capabilities: Value) -> Value {
        let request = subscription_request(capabilities);
        aaep_judge::judge_message("subscription.request", &request);
        let answer = self.post(plane, "/aaep/v1/subscriptions", &request).await.expect(201);
        let accepted = answer.json();
        aaep_judge::judge_message("subscription.accepted", &accepted);
        self.subscription_id = accepted["subscription_id"].as_str().expect("a subscription").to_owned();
        accepted
    }

    /// Opens the stream of its subscription.
    pub async fn opens_stream(&self, plane: &Plane) -> ReceivedEvents {
        self.opens_stream_after(plane, None).await
    }

    pub async fn opens_stream_after(&self, plane: &Plane, last: Option<&str>) -> ReceivedEvents {
        let path = format!("/aaep/v1/events?subscription_id={}", self.subscription_id);
        let mut request = self.request(Method::GET, &path).header(header::ACCEPT, "text/event-stream");
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        ReceivedEvents::open(&plane.public, request.body(Body::empty()).unwrap()).await
    }

    /// Approves over its subscription.
    pub async fn accepts(&self, plane: &Plane, question: &Value) -> Answer {
        self.replies(plane, &self.approval(plane, question)).await
    }

    pub async fn rejects(&self, plane: &Plane, question: &Value) -> Answer {
        let mut reply = self.approval(plane, question);
        reply["decision"] = json!("reject");
        self.replies(plane, &reply).await
    }

    pub async fn replies(&self, plane: &Plane, reply: &Value) -> Answer {
        self.post(plane, "/aaep/v1/replies", reply).await
    }

    /// An approval of a received question, with the current time.
    pub fn approval(&self, plane: &Plane, question: &Value) -> Value {
        json!({
            "type": "confirmation.reply",
            "reply_token": question["reply_token"],
            "decision": "accept",
            "subscription_id": self.subscription_id,
            "timestamp": moment(plane.now()),
        })
    }

    /// An answer to a clarification.
    pub fn response(&self, plane: &Plane, question: &Value, response: Value) -> Value {
        json!({
            "type": "clarification.reply",
            "reply_token": question["reply_token"],
            "response": response,
            "subscription_id": self.subscription_id,
            "timestamp": moment(plane.now()),
        })
    }

    pub async fn post(&self, plane: &Plane, path: &str, body: &Value) -> Answer {
        self.post_text(plane, path, body.to_string()).await
    }

    pub async fn post_text(&self, plane: &Plane, path: &str, body: String) -> Answer {
        let request = self.request(Method::POST, path).header(header::CONTENT_TYPE, "application/json");
        Answer::to(&plane.public, request.body(Body::from(body)).unwrap()).await
    }

    /// A request with the token and nothing else.
    pub fn request(&self, method: Method, path: &str) -> http::request::Builder {
        let request = Request::builder().method(method).uri(path);
        request.header(header::AUTHORIZATION, format!("Bearer {}", self.token))
    }

    /// The path of a legacy endpoint.
    pub fn legacy(&self, end: &str) -> String {
        format!("/aaep/legacy/{}/{end}", self.token)
    }
}

/// A subscription request that can answer both kinds of questions, unless `changes` says otherwise.
pub fn subscription_request(changes: Value) -> Value {
    let mut capabilities = json!({
        "supports_confirmation_reply": true,
        "supports_clarification_reply": true,
        "supported_conformance_levels": [1, 2, 3],
    });
    let members = capabilities.as_object_mut().expect("an object");
    members.extend(changes.as_object().expect("changes").clone());
    json!({
        "type": "subscription.request",
        "aaep_version": "1.0.0",
        "subscriber_id": "org.example.speaker",
        "capabilities": capabilities,
    })
}

pub fn moment(at: UnixMillis) -> String {
    timestamp(at)
}

impl TestAgent {
    /// Opens an AAEP session; returns its id.
    pub async fn opens_session(&self, plane: &Plane) -> String {
        let opened = self.post(plane, "/aaep/v1/sessions", &event("session.started", json!({}))).await;
        opened.expect(201).json()["session_id"].as_str().expect("a session").to_owned()
    }

    pub async fn publishes(&self, plane: &Plane, session_id: &str, event: &Value) -> Answer {
        self.post(plane, &format!("/aaep/v1/sessions/{session_id}/events"), event).await
    }
}

/// An event as an agent publishes it: its type below `aaep:agent.`, a summary, and the test's own members.
pub fn event(name: &str, members: Value) -> Value {
    let mut event = json!({ "type": format!("aaep:agent.{name}"), "summary_normal": "something happens" });
    let all = event.as_object_mut().expect("an object");
    if matches!(name, "session.errored" | "awaiting.confirmation" | "awaiting.clarification" | "handoff.requested") {
        all.insert("urgency".into(), json!("critical"));
    }
    all.extend(members.as_object().expect("members").clone());
    event
}
