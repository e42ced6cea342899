//! The usual fixture: alice has connected acme's agent, and it is registered.

use crate::{Answer, Connected, Kit, Plane, Registered, Setup, TestPerson};
use http::Method;
use serde_json::{Value, json};

pub struct AgentFixture {
    pub plane: Plane,
    pub alice: TestPerson,
    pub connected: Connected,
    pub agent: Registered,
}

impl Kit {
    /// An agent that may read and write the calendar.
    pub async fn fixture(self) -> AgentFixture {
        self.fixture_with(Setup::default(), &["calendar.read", "calendar.write"]).await
    }

    pub async fn fixture_with(self, setup: Setup, scopes: &[&str]) -> AgentFixture {
        AgentFixture::on(self.plane_with(setup).await, scopes).await
    }
}

impl AgentFixture {
    pub async fn on(plane: Plane, scopes: &[&str]) -> Self {
        let alice = plane.person("alice").await;
        let connected = plane.connect(&alice, plane.acme(), scopes).await;
        let agent = plane.register(plane.acme(), &connected).await;
        Self { plane, alice, connected, agent }
    }

    pub async fn read(&self) -> Answer {
        self.plane.call(&self.agent, Method::GET, "/calendar/events", "READ_CALENDAR").await
    }

    pub async fn write(&self) -> Answer {
        self.plane.call(&self.agent, Method::POST, "/calendar/events", "SCHEDULE_EVENT").await
    }

    /// Alice revokes the agent's delegation.
    pub async fn revoke(&self) -> Answer {
        let body = json!({ "delegation_id": self.connected.delegation_id, "reason": "user_requested" });
        self.alice.post(&self.plane, "/agent/revoke", &body).await
    }

    /// A page of the delegation's audit, as alice reads it.
    pub async fn audit(&self, filter: &str) -> Value {
        let query = format!("/agent/audit?delegation_id={}&{filter}", self.connected.delegation_id);
        self.alice.get(&self.plane, &query).await.expect(200).json()
    }

    /// The entries of calls, at most 200.
    pub async fn calls(&self) -> Vec<Value> {
        self.audit("event_type=call&limit=200").await["entries"].as_array().unwrap().clone()
    }

    /// Number of requests that reached the upstream.
    pub fn reached(&self) -> usize {
        self.plane.upstream.reached().len()
    }

    /// Registers with a receipt of alice for these scopes, changed by the test; returns the session and the receipt.
    pub async fn with_receipt(&self, scopes: &[&str], change: impl FnOnce(&mut Value)) -> (Registered, String) {
        let (body, receipt) = self.receipt_body(scopes, change);
        (self.plane.register_with(&body, Some(&self.connected)).await, receipt)
    }

    /// The body of such a registration, and its receipt.
    pub fn receipt_body(&self, scopes: &[&str], change: impl FnOnce(&mut Value)) -> (Value, String) {
        let acme = self.plane.acme();
        let mut claims = self.plane.receipt_claims(acme, "alice", &self.connected, scopes);
        change(&mut claims);
        let receipt = acme.sign_receipt(&claims);
        let mut body = self.plane.register_body(acme, &self.connected);
        body["consent_receipt"] = receipt.clone().into();
        (body, receipt)
    }
}
