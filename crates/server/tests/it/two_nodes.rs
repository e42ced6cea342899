//! Two nodes on one database: each can replace the other, and neither relies on its own clock.

mod clocks;
mod gone;
mod in_flight;
mod revoked;
mod slow_write;
mod together;

use axum::{Router, body::Body};
use countersign_engine::{Engine, ManualClock};
use countersign_testkit::{
    Answer, Backend, Kit, Plane, Setup, TestAgent, TestPerson,
    aaep::{ReceivedEvents, Subscriber},
    decisions::DecisionFixture,
};
use http::{Method, header};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};

/// Less than the interval after which a waiter polls by itself: a faster response proves a wake-up.
const WOKEN: Duration = Duration::from_secs(4);

/// Both nodes, and the participants.
struct Two {
    first: Plane,
    second: Node,
    alice: TestPerson,
    agent: TestAgent,
}

struct Node {
    engine: Arc<Engine>,
    public: Router,
}

impl Two {
    async fn nodes() -> Self {
        let first = Kit(Backend::Postgres).plane_with(Setup::payments()).await;
        let clock = first.clock.clone();
        Self::with(first, &clock).await
    }

    /// The second node's clock differs by this much.
    async fn apart(millis: i64) -> (Self, ManualClock) {
        let first = Kit(Backend::Postgres).plane_with(Setup::payments()).await;
        let clock = ManualClock::at(first.now().plus_millis(millis));
        (Self::with(first, &clock).await, clock)
    }

    async fn with(first: Plane, clock: &ManualClock) -> Self {
        let DecisionFixture { plane: first, alice, agent } = DecisionFixture::on(first).await;
        let (engine, public) = first.second_node_by(clock).await;
        Self { first, second: Node { engine, public }, alice, agent }
    }

    /// Alice's subscriber at the second node.
    async fn listening_at_the_second(&self) -> (Subscriber, ReceivedEvents) {
        let mut subscriber = self.alice.subscriber(&self.first).await;
        subscriber.subscribes(&self.first).await;
        let path = format!("/aaep/v1/events?subscription_id={}", subscriber.subscription_id);
        let request = subscriber.request(Method::GET, &path).header(header::ACCEPT, "text/event-stream");
        let heard = ReceivedEvents::open(&self.second.public, request.body(Body::empty()).unwrap()).await;
        (subscriber, heard)
    }

    /// Sends a reply to the second node.
    async fn reply_to_the_second(&self, subscriber: &Subscriber, reply: &Value) -> Answer {
        let request = subscriber.request(Method::POST, "/aaep/v1/replies");
        let request = request.header(header::CONTENT_TYPE, "application/json").body(Body::from(reply.to_string()));
        Answer::to(&self.second.public, request.unwrap()).await
    }
}

impl Node {
    async fn looks(&self, agent: &TestAgent, decision: &Value) -> Value {
        agent.send(&self.public, Method::GET, &path(decision, ""), None).await.expect(200).json()
    }

    async fn claims(&self, agent: &TestAgent, decision: &Value) -> Answer {
        let body = json!({ "digest": decision["digest"] }).to_string();
        agent.send(&self.public, Method::POST, &path(decision, "/claim"), Some(body)).await
    }

    /// Starts a wait, and returns once it is in progress.
    async fn waits(&self, agent: &TestAgent, decision: &Value) -> tokio::task::JoinHandle<Answer> {
        let (agent, node, wait) = (agent.clone(), self.public.clone(), path(decision, "?wait=55"));
        let (whose, id) = (agent.clone(), decision.clone());
        let waiting = tokio::spawn(async move { agent.send(&node, Method::GET, &wait, None).await });
        for _ in 0..5 {
            self.looks(&whose, &id).await;
        }
        assert!(!waiting.is_finished());
        waiting
    }
}

async fn woken(waiting: tokio::task::JoinHandle<Answer>) -> Answer {
    tokio::time::timeout(WOKEN, waiting).await.expect("nobody woke it").unwrap()
}

fn path(decision: &Value, below: &str) -> String {
    format!("/v1/decisions/{}{below}", decision["decision_id"].as_str().unwrap())
}
