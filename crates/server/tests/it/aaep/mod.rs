//! AAEP over HTTP: agents that send events, subscribers that receive and answer them, over streams, sockets and the pair of
//! paths for clients without credentials.

mod blocking;
mod clarifications;
mod expiry;
mod handshake;
mod legacy;
mod legacy_pages;
mod manifest;
mod questions;
mod repeats;
mod replies;
mod reply_members;
mod reply_tokens;
mod sessions;
mod silence;
mod socket;
mod stopping;
mod story;
mod streams;
mod token_ends;
mod tokens;
mod uniform;

use countersign_testkit::{
    Answer, Kit, Plane, TestAgent, TestPerson,
    aaep::{ReceivedEvents, Subscriber},
    decisions::DecisionFixture,
};
use serde_json::{Value, json};

/// A pending question that a subscriber of alice's has received.
struct Waiting {
    plane: Plane,
    alice: TestPerson,
    agent: TestAgent,
    phone: Subscriber,
    heard: ReceivedEvents,
    decision: Value,
    /// The event as received.
    question: Value,
}

impl Waiting {
    async fn on(kit: Kit) -> Self {
        Self::after(kit.decision_fixture().await, "payments.send").await
    }

    async fn after(asked: DecisionFixture, tool: &str) -> Self {
        let DecisionFixture { plane, alice, agent } = asked;
        let (phone, mut heard) = alice.subscribed(&plane).await;
        let decision = agent.requests_approval(&plane, tool, json!({ "amount": "82000" })).await;
        let question = heard.next_of("awaiting.confirmation").await;
        Self { plane, alice, agent, phone, heard, decision, question }
    }

    /// A clarification request.
    async fn for_clarification(kit: Kit, body: Value) -> Self {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let (phone, mut heard) = alice.subscribed(&plane).await;
        let decision = agent.requests_clarification(&plane, &body).await.expect(201).json();
        let question = heard.next_of("awaiting.clarification").await;
        Self { plane, alice, agent, phone, heard, decision, question }
    }

    /// A valid approval with a change by the test.
    fn yes_but(&self, change: impl FnOnce(&mut Value)) -> Value {
        let mut reply = self.phone.approval(&self.plane, &self.question);
        change(&mut reply);
        reply
    }

    fn response(&self, response: Value) -> Value {
        self.phone.response(&self.plane, &self.question, response)
    }

    async fn replies(&self, reply: &Value) -> Answer {
        self.phone.replies(&self.plane, reply).await
    }

    async fn document(&self) -> Value {
        self.agent.reads_decision(&self.plane, &self.decision).await.expect(200).json()
    }

    async fn state(&self) -> Value {
        self.document().await["state"].clone()
    }

    /// The message is refused as malformed, and the question stays pending.
    #[track_caller]
    fn is_no_message<'a>(&'a self, reply: &'a Value) -> impl Future<Output = ()> + 'a {
        let told = reply.to_string();
        async move {
            assert_eq!(self.replies(reply).await.refusal(), (400, "invalid_request".into()), "{told}");
            assert_eq!(self.state().await, "pending", "{told}");
        }
    }

    /// The reply is acknowledged like any other, and changes nothing.
    async fn does_not_count(&self, reply: &Value) {
        assert_eq!(self.replies(reply).await.status, 204, "{reply}");
        assert_eq!(self.state().await, "pending", "{reply}");
    }

    /// The reply is acknowledged and settles the question.
    async fn counts(&self, reply: &Value, as_what: &str) {
        assert_eq!(self.replies(reply).await.status, 204, "{reply}");
        assert_eq!(self.state().await, as_what, "{reply}");
    }
}
