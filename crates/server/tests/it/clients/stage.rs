//! A plane on a loopback port, in a project that allows tokens in addresses, and an agent that asks.

use countersign_engine::{
    DecisionState,
    store::{self, DecisionById},
};
use countersign_protocol::origin::Origin;
use countersign_server::{Limits, ServedListener, config::node::Aaep, router, serve};
use countersign_testkit::{
    Backend, KeepsTime, Kit, Plane, Setup, TestAgent, TestPerson,
    decisions::{ALL, confirmation},
};
use serde_json::{Value, json};
use std::net::SocketAddr;
use tokio::net::TcpListener;

/// The origin of the React component's page, which the project lists.
pub(super) const PAGE: &str = "https://pages.example.test";

pub(super) struct Stage {
    pub(super) plane: Plane,
    pub(super) alice: TestPerson,
    agent: TestAgent,
    address: SocketAddr,
    serving: Option<ServedListener>,
    _time: KeepsTime,
}

impl Stage {
    pub(super) async fn ready() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut setup = Setup::payments_with(|document| document.decisions.legacy_subscribers = true).from_now();
        setup.origin = format!("http://{address}");
        let plane = Kit(Backend::Sqlite).plane_with(setup).await;
        let time = plane.follow_system_clock();
        let alice = plane.person("alice").await;
        let agent = plane.agent_key("alice", ALL).await;
        let mut stage = Self { plane, alice, agent, address, serving: None, _time: time };
        stage.serve(listener);
        stage
    }

    fn serve(&mut self, listener: TcpListener) {
        let pages = Aaep { legacy_origins: vec![Origin::parse(PAGE).unwrap()], legacy_hosts: Vec::new() };
        let app = self.plane.app.clone().with_legacy(pages);
        self.serving = Some(serve(listener, router(app), Limits::default()).unwrap());
    }

    /// The plane stops listening and closes its connections.
    pub(super) async fn goes_down(&mut self) {
        self.serving.take().unwrap().stop().await;
    }

    pub(super) async fn comes_back(&mut self) {
        let listener = TcpListener::bind(self.address).await.unwrap();
        self.serve(listener);
    }

    /// The address of a subscriber of alice's as shown to her, and its token's id.
    pub(super) async fn endpoint(&self) -> (String, String) {
        self.endpoint_like(json!({ "name": "an old client", "legacy": true, "approves_high_risk": true })).await
    }

    pub(super) async fn endpoint_like(&self, new: Value) -> (String, String) {
        let added = self.alice.post(&self.plane, "/aaep/v1/subscriber-tokens", &new).await.expect(201).json();
        let text = |name: &str| added[name].as_str().unwrap_or_else(|| panic!("no {name}: {added}")).to_owned();
        (text("endpoint"), text("id"))
    }

    /// Asks to pay, in a recognisable text.
    /// The action of that question as every client receives it.
    pub(super) fn action_of_paying(whom: &str) -> String {
        format!("Runs payments.send with to: “{whom}”. In the agent's words: “Pay {whom}”")
    }

    pub(super) async fn asks_to_pay(&self, whom: &str) -> Value {
        let mut body = confirmation("payments.send", json!({ "to": whom }));
        body["action"] = json!(format!("Pay {whom}"));
        body["consequence"] = json!("The money is gone.");
        self.agent.requests_confirmation(&self.plane, &body).await.expect(201).json()
    }

    pub(super) async fn clarifies(&self, body: Value) -> Value {
        self.agent.requests_clarification(&self.plane, &body).await.expect(201).json()
    }

    /// The decision as the agent sees it once it is settled.
    pub(super) async fn settled(&self, decision: &Value) -> Value {
        let settled = self.agent.waits(&self.plane, decision, 55).await.expect(200).json();
        assert_ne!(settled["state"], "pending", "{settled}");
        settled
    }

    pub(super) async fn state_of(&self, decision: &Value) -> Value {
        self.agent.reads_decision(&self.plane, decision).await.expect(200).json()["state"].clone()
    }

    /// Executes the approved action and reports it.
    pub(super) async fn does(&self, settled: &Value) {
        let claim = json!({ "digest": settled["digest"] });
        self.agent.claims(&self.plane, settled, &claim).await.expect(200);
        self.agent.reports(&self.plane, settled, "committed").await.expect(200);
    }

    /// The person who decided, and their authentication.
    pub(super) async fn decided_by(&self, decision: &Value) -> (String, Value) {
        let project = self.plane.at().await.project.key;
        let lookup = DecisionById { project, id: decision["decision_id"].as_str().unwrap().to_owned() };
        let found = store::find_one(&**self.plane.engine.store(), lookup).await.unwrap();
        let by = match found.unwrap().state {
            DecisionState::Accepted { by, .. }
            | DecisionState::Rejected { by, .. }
            | DecisionState::Answered { by, .. } => by,
            other => panic!("nobody decided: {other:?}"),
        };
        (by.subject, serde_json::to_value(by.assurance).unwrap())
    }

    /// Fails unless alice decided, authenticated by her token alone.
    pub(super) async fn alice_decided(&self, settled: &Value) {
        assert_eq!(settled["assurance"], "token", "{settled}");
        assert_eq!(self.decided_by(settled).await, ("alice".to_owned(), json!("token")));
    }
}
