//! Test fixture: one service, one operator, one agent, one person receiving notices, and a numeric clock.

use crate::service::{CONNECT, EVENTS, EXCHANGE, MANIFEST, REGISTER, Service, ok};
use countersign_client::{
    Delegation,
    agent::{Agent, AgentCall, AgentConfig, Notice},
    operator::{ConsentDesk, KeptIntent, KeyRing, OperatorIdentity, OperatorKeys, Receipt, Task},
};
use countersign_jose::SigningKey;
use countersign_protocol::{
    aap::{
        consent_receipt::ExecutionWindow,
        delegation_token::{self, DelegationClaims},
        manifest::Manifest,
    },
    domain::Domain,
    origin::Origin,
    time::UnixMillis,
};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

pub(crate) const SERVICE: &str = "https://calendar.example";
pub(crate) const OPERATOR: &str = "agents.acme.example";
pub(crate) const CALLBACK: &str = "https://agents.acme.example/connected";
pub(crate) const WORDS: &str = "book a meeting with my therapist";

pub(crate) struct ClientFixture {
    pub(crate) service: Arc<Service>,
    pub(crate) operator: OperatorKeys,
    pub(crate) agent: Agent,
    pub(crate) kept: Arc<Mutex<Vec<KeptIntent>>>,
    pub(crate) opened: Arc<Mutex<Vec<String>>>,
    told: Arc<Mutex<Vec<Notice>>>,
}

impl ClientFixture {
    /// An agent without a delegation, at a well-behaved service.
    pub(crate) fn new() -> Self {
        Self::at(&manifest())
    }

    pub(crate) fn at(manifest: &Value) -> Self {
        Self::with(manifest, config())
    }

    pub(crate) fn with(manifest: &Value, config: AgentConfig) -> Self {
        let service = Arc::new(Service::default());
        service.answers(MANIFEST, [ok(manifest)]);
        service.answers(REGISTER, [ok(&json!(null))]);
        service.answers(CONNECT, [connect_answer("https://calendar.example/connect/creq_1")]);
        service.answers(EXCHANGE, [exchange_answer()]);
        service.answers(EVENTS, [ok(&json!({ "events": [] }))]);
        let (told, opened, kept) = <(Arc<Mutex<_>>, Arc<Mutex<_>>, Arc<Mutex<_>>)>::default();
        let operator = operator();
        let agent = Agent::new(config, operator.clone(), service.clone(), told.clone(), opened.clone());
        Self { service, operator, agent, kept, opened, told }
    }

    /// An agent with a delegation and a session; so far it requested only the manifest and register.
    pub(crate) async fn registered() -> (Self, Receipt) {
        let mut fixture = Self::connected().await;
        let receipt = fixture.consents();
        fixture.admits(receipt.session_id());
        fixture.agent.register(Some(&receipt), at(0)).await.unwrap();
        (fixture, receipt)
    }

    pub(crate) async fn connected() -> Self {
        let mut fixture = Self::new();
        fixture.agent.restore(delegation());
        fixture.agent.discover().await.unwrap();
        fixture
    }

    pub(crate) fn desk(&self) -> ConsentDesk {
        ConsentDesk::new(self.operator.clone(), self.kept.clone())
    }

    pub(crate) fn consents(&self) -> Receipt {
        let proposal = self.desk().propose(&parsed(), &delegation(), task()).unwrap();
        proposal.approve(at(0)).unwrap()
    }

    /// Register responds with tokens for this session, starting with `access-1`.
    pub(crate) fn admits(&self, session_id: &str) {
        let answers = (1..=9).map(|n| ok(&access(&format!("access-{n}"), session_id)));
        self.service.answers(REGISTER, answers);
    }

    pub(crate) fn notices(&self) -> Vec<Notice> {
        self.told.lock().unwrap().clone()
    }

    /// The notices since the last call.
    pub(crate) fn notices_since(&self) -> Vec<Notice> {
        std::mem::take(&mut *self.told.lock().unwrap())
    }
}

pub(crate) fn config() -> AgentConfig {
    AgentConfig::new(Origin::parse(SERVICE).unwrap())
}

pub(crate) fn operator() -> OperatorKeys {
    let identity = OperatorIdentity { callbacks: vec![CALLBACK.to_owned()], ..identity() };
    OperatorKeys::new(&identity, KeyRing::generate().unwrap()).unwrap()
}

pub(crate) fn identity() -> OperatorIdentity {
    OperatorIdentity::new("Acme", Domain::parse(OPERATOR).unwrap(), "agents@acme.example")
}

pub(crate) fn manifest() -> Value {
    json!({
        "spec": "aap/2.0",
        "service": SERVICE,
        "minimum_tier": 2,
        "identity_modes_supported": ["user_delegated"],
        "disclosures": { "user_delegated": "It acts as you." },
        "scopes": [
            { "id": "calendar.read", "description": "See events", "allows": ["events.list"],
              "intent_types": ["READ_CALENDAR"] },
            { "id": "calendar.write", "description": "Change events", "allows": ["events.create"],
              "intent_types": ["SCHEDULE_EVENT"] },
            { "id": "calendar.erase", "description": "Delete events", "allows": ["events.delete"],
              "irreversible": true, "intent_types": ["ERASE"] }
        ],
        "endpoints": { "register": "/agent/register", "delegate": "/agent/delegate", "revoke": "/agent/revoke",
                       "audit": "/agent/audit", "cancel": "/agent/cancel" },
        "conformance": { "tier": "core", "spec": "aap/2.0" },
        "spec_versions_accepted": ["2.0"]
    })
}

pub(crate) fn parsed() -> Manifest {
    Manifest::parse(manifest().to_string().as_bytes()).unwrap()
}

pub(crate) fn delegation() -> Delegation {
    Delegation::from_token(&delegation_token(SERVICE, OPERATOR)).unwrap()
}

pub(crate) fn delegation_token(service: &str, operator: &str) -> String {
    let claims = DelegationClaims {
        iss: service.to_owned(),
        sub: "john@example.com".to_owned(),
        delegated_to: Domain::parse(operator).unwrap(),
        delegation_id: "del_k9x2mq".to_owned(),
        scopes: vec!["calendar.read".to_owned(), "calendar.write".to_owned()],
        max_agent_ttl: 3600,
        iat: at(0).secs(),
        exp: at(90 * 86400).secs(),
    };
    SigningKey::generate(Some("service-1")).unwrap().sign(delegation_token::TYP, &claims).unwrap()
}

pub(crate) fn connect_answer(url: &str) -> countersign_client::transport::Response {
    ok(&json!({ "request_id": "creq_1", "connect_url": url, "expires_at": at(600).to_rfc3339() }))
}

pub(crate) fn exchange_answer() -> countersign_client::transport::Response {
    ok(&json!({
        "delegation_token": delegation_token(SERVICE, OPERATOR),
        "delegation_id": "del_k9x2mq",
        "scopes": ["calendar.read", "calendar.write"],
        "effective_policy": {}
    }))
}

pub(crate) fn access(token: &str, session_id: &str) -> Value {
    json!({ "access_token": token, "token_type": "Bearer", "expires_in": 3600, "session_id": session_id,
            "effective_policy": {} })
}

pub(crate) fn task() -> Task {
    Task {
        text: WORDS.to_owned(),
        scopes: vec!["calendar.write".to_owned()],
        intent_type: Some("SCHEDULE_EVENT".to_owned()),
        window: ExecutionWindow { earliest: at(0), latest: at(7200) },
        usage_limits: None,
    }
}

pub(crate) fn create_event() -> AgentCall {
    AgentCall::post(EVENTS).json(&json!({ "title": "Meeting" })).intent_type("SCHEDULE_EVENT")
}

pub(crate) fn list_events() -> AgentCall {
    AgentCall::get(EVENTS).intent_type("READ_CALENDAR")
}

pub(crate) fn at(secs: i64) -> UnixMillis {
    UnixMillis::from_secs(1_750_000_000 + secs)
}
