//! Helpers for the tests of the hub: an engine on SQLite with a manual clock, people, agents and subscribers.

use async_trait::async_trait;
use countersign_engine::{
    Address, AgentPrincipal, ApiKeyKind, Clock, Delivered, Engine, Entropy, EventStream, KnownOperator, Listener,
    ManualClock, NewKey, NewSubscriberToken, OperatorError, Operators, PasswordCost, ProjectAt, ProjectMember, Role,
    Settings, SubscriberToken, Tenancy, Throttle,
    store::{self, Store, StoreLocation, StoreOptions},
};
use countersign_protocol::{
    aaep::{
        handshake::{SubscriptionAccepted, SubscriptionRejected, SubscriptionRequest},
        ingest,
        reply::{self, Reply},
    },
    decisions::{ConfirmationRequest, DecisionDocument},
    domain::Domain,
    origin::Origin,
    time::UnixMillis,
};
use futures_util::FutureExt as _;
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};

const PASSWORD: &str = "correct horse battery staple";

pub(crate) struct World {
    pub(crate) engine: Arc<Engine>,
    pub(crate) clock: ManualClock,
    pub(crate) at: ProjectAt,
    store: Arc<dyn Store>,
}

/// A person's subscriber with its token.
pub(crate) struct Subscriber {
    pub(crate) listener: Listener,
    pub(crate) secret: String,
    pub(crate) token: SubscriberToken,
}

impl World {
    /// alice and carol are users, bob approves. Payments need an approver; everything else the own person.
    pub(crate) async fn start() -> Self {
        Self::with(json!({})).await
    }

    pub(crate) async fn with(decisions: Value) -> Self {
        let clock = ManualClock::at(UnixMillis::from_secs(1_800_000_000));
        let read = clock.clone();
        let options = StoreOptions { readers: 8, place: StoreLocation::Temporary, clock: Arc::new(move || read.now()) };
        let store = store::open(options).await.unwrap();
        let engine = engine(&store, &clock).await;
        let mut decisions = decisions;
        decisions["max_open_per_agent"] = json!(5000);
        decisions["max_open_per_person"] = json!(5000);
        decisions["max_raised_per_hour"] = json!(100_000);
        let document = json!({
            "id": "calendar",
            "decisions": decisions,
            "actions": [{ "name": "pay", "approvers": ["role:approver"] }],
        });
        engine.apply_project(serde_json::from_value(document).unwrap(), "test").await.unwrap();
        let at = engine.project(&Address::Unscoped).await.unwrap();
        for (name, role) in [("alice", Role::User), ("bob", Role::Approver), ("carol", Role::User)] {
            engine.people().add_person(name, name, PASSWORD, false).await.unwrap();
            engine.people().set_roles(at.project.key, name, vec![role]).await.unwrap();
        }
        Self { engine, clock, at, store }
    }

    /// Another node's engine on the same store, or this one's after a restart.
    pub(crate) async fn another(&self) -> Self {
        let engine = engine(&self.store, &self.clock).await;
        Self { engine, clock: self.clock.clone(), at: self.at.clone(), store: Arc::clone(&self.store) }
    }

    pub(crate) async fn member(&self, name: &str) -> ProjectMember {
        let started = self.engine.people().sign_in(name, PASSWORD, "test", None).await.unwrap();
        let who = self.engine.people().signed_in(&started.secret).await.unwrap().unwrap();
        self.engine.people().member(&who, self.at.project.key).await.unwrap()
    }

    pub(crate) async fn agent_of(&self, name: &str) -> AgentPrincipal {
        let key = NewKey {
            kind: ApiKeyKind::Agent,
            principal: format!("agent of {name}"),
            responsible: name.into(),
            actions: vec!["pay".into()],
            asks: vec![],
            jkt: None,
        };
        let added = self.engine.people().add_key(&self.at.project, &key).await.unwrap();
        self.engine.decisions().authenticate_agent(&self.at, &added.secret).await.unwrap()
    }

    pub(crate) async fn subscriber(&self, name: &str, may_answer: bool) -> Subscriber {
        let new = NewSubscriberToken {
            name: "speaker".into(),
            may_answer,
            legacy: false,
            approves_high_risk: may_answer,
            lifetime_s: None,
        };
        self.subscriber_with(name, new).await
    }

    pub(crate) async fn subscriber_with(&self, name: &str, new: NewSubscriberToken) -> Subscriber {
        let member = self.member(name).await;
        let added = self.engine.events().add_subscriber_token(&self.at, &member, new).await.unwrap();
        let listener = self.engine.events().subscriber_by_token(&self.at, &added.secret).await.unwrap();
        Subscriber { listener, secret: added.secret, token: added.token }
    }

    pub(crate) async fn subscribe(
        &self,
        listener: &Listener,
        capabilities: Value,
    ) -> Result<SubscriptionAccepted, SubscriptionRejected> {
        let request = json!({
            "type": "subscription.request",
            "aaep_version": "1.0.0",
            "subscriber_id": "speaker",
            "capabilities": capabilities,
        });
        self.engine.events().subscribe(&self.at, listener, &SubscriptionRequest::parse(&request).unwrap()).await
    }

    pub(crate) async fn stream(&self, listener: &Listener, id: &str) -> EventStream {
        self.engine.events().stream(&self.at, listener, id, None).await.unwrap()
    }

    /// Subscribes to everything with all reply capabilities, and opens the stream.
    pub(crate) async fn listens(&self, listener: &Listener) -> (String, EventStream) {
        let id = self.subscribe(listener, answering()).await.unwrap().subscription_id;
        let stream = self.stream(listener, &id).await;
        (id, stream)
    }

    pub(crate) async fn asks(&self, agent: &AgentPrincipal, action: &str) -> DecisionDocument {
        let body = ConfirmationRequest {
            action: action.into(),
            consequence: "it happens".into(),
            timeout_seconds: Some(600),
            ..ConfirmationRequest::default()
        };
        self.engine.decisions().raise_confirmation(&self.at, agent, &body).await.unwrap().document
    }

    pub(crate) async fn opens(&self, agent: &AgentPrincipal) -> String {
        let started = json!({ "type": "aaep:agent.session.started", "summary_normal": "on it" });
        let started = ingest::published(&started).unwrap();
        self.engine.events().open_aaep_session(&self.at, agent, started).await.unwrap().id
    }

    pub(crate) async fn says(&self, agent: &AgentPrincipal, session: &str, event: Value) {
        let event = ingest::published(&event).unwrap();
        self.engine.events().publish(&self.at, agent, session, event).await.unwrap();
    }

    pub(crate) async fn replies(&self, listener: &Listener, subscription: &str, token: &str, decision: &str) {
        let reply = self.reply(subscription, token, decision);
        self.engine.events().reply(&self.at, listener, &reply, false).await.unwrap();
    }

    pub(crate) fn reply(&self, subscription: &str, token: &str, decision: &str) -> Reply {
        let reply = json!({
            "type": "confirmation.reply",
            "reply_token": token,
            "decision": decision,
            "subscription_id": subscription,
            "timestamp": self.clock.now().to_rfc3339(),
        });
        reply::parse(&reply, false).unwrap()
    }

    pub(crate) async fn state_of(&self, agent: &AgentPrincipal, decision: &DecisionDocument) -> String {
        let document = self.engine.decisions().decision(&self.at, agent, &decision.decision_id).await.unwrap();
        serde_json::to_value(document).unwrap()["state"].as_str().unwrap().to_owned()
    }
}

async fn engine(store: &Arc<dyn Store>, clock: &ManualClock) -> Arc<Engine> {
    let settings = Settings {
        origin: Origin::parse("http://127.0.0.1:8420").unwrap(),
        tenancy: Tenancy::Single,
        gateway: None,
        subdomains: false,
        test_mode: false,
        throttle: Throttle::all(1000),
        connect_requests_per_minute: 60,
        sign_in_lifetime_s: 3600,
        fresh_s: 300,
        password_cost: PasswordCost { memory_kib: 8, passes: 1 },
        unrecorded_outcomes: None,
        retention: countersign_engine::store::Retention::default(),
        evidence: countersign_engine::EvidenceSettings::default(),
    };
    let clock = Clock::Manual(clock.clone());
    Engine::start(settings, Arc::clone(store), clock, Entropy::System, &[7; 32], Arc::new(Nobody)).await.unwrap()
}

struct Nobody;

#[async_trait]
impl Operators for Nobody {
    async fn operator(&self, _: &Domain, _: &str, _: UnixMillis, _: &str) -> Result<KnownOperator, OperatorError> {
        Err(OperatorError::Unreachable)
    }

    async fn last_published(&self, _: &Domain, _: &str, _: UnixMillis) -> Result<Option<UnixMillis>, OperatorError> {
        Err(OperatorError::Unreachable)
    }
}

/// A subscription without coalescing that can answer.
pub(crate) fn answering() -> Value {
    json!({
        "supports_confirmation_reply": true,
        "supports_clarification_reply": true,
        "coalesce_boundaries": ["none"],
        "supported_conformance_levels": [1, 2, 3],
    })
}

/// The next event, which must arrive.
pub(crate) async fn hears(stream: &mut EventStream) -> Value {
    match next(stream).await {
        Some(Delivered::Event { event_id, json }) => {
            let event: Value = serde_json::from_str(&json).unwrap();
            assert_eq!(event["event_id"], event_id);
            event
        }
        other => panic!("an event should have come, not {other:?}"),
    }
}

/// Every event up to the next question, with that question last.
pub(crate) async fn is_asked(stream: &mut EventStream) -> Vec<Value> {
    let mut heard = Vec::new();
    loop {
        heard.push(hears(stream).await);
        if kind(heard.last().unwrap()).starts_with("awaiting") {
            return heard;
        }
    }
}

pub(crate) async fn next(stream: &mut EventStream) -> Option<Delivered> {
    tokio::time::timeout(Duration::from_secs(10), stream.next()).await.expect("the stream says nothing")
}

/// The events that are already there, without waiting for more.
pub(crate) fn there_is(stream: &mut EventStream) -> Vec<Value> {
    let mut heard = Vec::new();
    while let Some(Some(Delivered::Event { json, .. })) = stream.next().now_or_never() {
        heard.push(serde_json::from_str(&json).unwrap());
    }
    heard
}

pub(crate) async fn ends_with(stream: &mut EventStream) -> String {
    loop {
        match next(stream).await {
            Some(Delivered::Closed { reason_code, .. }) => {
                assert_eq!(next(stream).await, None, "nothing comes after the end");
                return reason_code;
            }
            Some(_) => {}
            None => panic!("the stream ended without a word"),
        }
    }
}

/// The type without its common prefix.
pub(crate) fn kind(event: &Value) -> &str {
    event["type"].as_str().unwrap().strip_prefix("aaep:agent.").unwrap()
}

pub(crate) fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(kind).collect()
}

pub(crate) fn text(event: &Value, member: &str) -> String {
    event[member].as_str().unwrap_or_default().to_owned()
}

/// Waits until a background change has happened.
pub(crate) async fn until(mut holds: impl AsyncFnMut() -> bool) {
    for _ in 0..2000 {
        if holds().await {
            return;
        }
        tokio::task::yield_now().await;
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    panic!("it never came about");
}
