//! Clarification tests: a project with rules that find gaps, an agent that uses the public API, and oracles for every
//! response.

mod judge;

pub use crate::stored_rows::{chain_in_store, rewrite_chain};
pub use judge::{Judges, problems, proven, python_finds};

use crate::{
    Answer, Kit, Plane, Setup, TestAgent, TestPerson, agent_request,
    decisions::{ALL, payments},
    leaks::Folder,
};
use axum::body::Body;
use countersign_engine::ApiKeyKind;
use countersign_jose::clarification::AgentKey;
use countersign_protocol::{
    clarification::{AnsweredBy, Stamp, signed::AnswerBody},
    project::ProjectDocument,
};
use http::{Method, header};
use serde_json::{Value, json};

/// The agent id under which the project asks.
pub const ASKS_AS: &str = "calendar-asks";

/// The project with policies about agent actions, the built-in rules, and these:
///
/// | rule | a gap where this is missing | suggestions | answered by |
/// |---|---|---|---|
/// | `recipient` | `transfer.recipient` | | a person |
/// | `account` | `transfer.account` | `current`, `savings` | a person |
/// | `region` | `hosting.region` | `eu`, `us`, nothing else | the agent |
/// | `copies` | `backup.copies` | (a number) | the agent |
/// | `limit` | `budget.limit` | (a number) | a person |
pub fn clarifying(id: &str) -> ProjectDocument {
    let mut document = payments(id);
    let policy = json!({ "agent_id": ASKS_AS, "rules": [
        required("recipient", "transfer.recipient", json!({ "person": true })),
        required("account", "transfer.account", json!({ "person": true, "suggestions": ["current", "savings"] })),
        required("region", "hosting.region", json!({ "suggestions": ["eu", "us"], "suggestions_exclusive": true })),
        required("copies", "backup.copies", json!({ "answer": "number" })),
        required("limit", "budget.limit", json!({ "answer": "number", "person": true })),
    ] });
    document.clarification = serde_json::from_value(policy).expect("a policy about clarifications");
    document
}

/// A rule about a required member, with the test's own additions.
pub fn required(id: &str, field: &str, more: Value) -> Value {
    let mut rule = json!({
        "id": id,
        "kind": "required",
        "field": field,
        "question": "What is {field}?",
        "context": "The plan does not say it, and nobody may guess.",
    });
    rule.as_object_mut().expect("an object").extend(more.as_object().expect("members").clone());
    rule
}

impl Setup {
    /// The usual plane with [`clarifying`].
    pub fn clarifying() -> Self {
        Self::clarifying_with(|_| {})
    }

    pub fn clarifying_with(change: impl FnOnce(&mut ProjectDocument)) -> Self {
        let mut document = clarifying("calendar");
        change(&mut document);
        Self { projects: vec![document], ..Self::default() }
    }
}

/// The usual fixture of clarification tests: an agent with a key of alice's. The oracles check every response.
pub struct Clarifying {
    pub plane: Plane,
    pub alice: TestPerson,
    pub agent: TestAgent,
    judges: Judges,
    _folder: Folder,
}

impl Clarifying {
    pub async fn start(kit: Kit) -> Self {
        Self::with(kit, Setup::clarifying()).await
    }

    pub async fn with(kit: Kit, setup: Setup) -> Self {
        let (plane, folder) = kit.lasting_plane(setup).await;
        let alice = plane.person("alice").await;
        let agent = plane.agent_key("alice", ALL).await;
        Self { plane, alice, agent, judges: Judges::of(kit), _folder: folder }
    }

    /// Nothing in memory survives.
    pub async fn restarted(self) -> Self {
        Self { plane: self.plane.restart().await, ..self }
    }

    /// The published keys for verifiers.
    pub async fn keys(&self) -> Value {
        self.plane.get("/v1/clarification/keys").await.expect(200).json()
    }

    pub async fn rotates_key(&self) -> Value {
        let admin = self.plane.key_of(ApiKeyKind::Admin, "alice", &[], &[]).await;
        let request = agent_request(Method::POST, "/v1/clarification/rotate-key");
        let request = request.header(header::AUTHORIZATION, format!("Bearer {}", admin.token));
        self.plane.send(request.body(Body::empty()).unwrap()).await.expect(200).json()
    }

    pub async fn get(&self, who: &TestAgent, below: &str, session: &Value) -> Answer {
        let below = format!("{below}?session_id={}", id_of(session));
        self.send(who, Method::GET, &below, None).await
    }

    pub async fn post(&self, who: &TestAgent, below: &str, body: &Value) -> Answer {
        self.send(who, Method::POST, below, Some(body)).await
    }

    async fn send(&self, who: &TestAgent, method: Method, below: &str, body: Option<&Value>) -> Answer {
        let path = format!("/v1/clarification/{below}");
        let answer = who.send(&self.plane.public, method, &path, body.map(Value::to_string)).await;
        if answer.is_success() {
            self.judges.check(&self.keys().await, &answer.json());
        }
        answer
    }

    /// Submits a plan; the service picks the session. Returns the gaps.
    pub async fn submits(&self, plan: &Value) -> Value {
        self.post(&self.agent, "submit-clarification", &json!({ "plan_object": plan })).await.expect(200).json()
    }

    /// Submits a plan in a session.
    pub async fn submits_in(&self, session: &Value, plan: &Value) -> Answer {
        let body = json!({ "session_id": id_of(session), "plan_object": plan });
        self.post(&self.agent, "submit-clarification", &body).await
    }

    /// Answers a gap as the agent.
    pub async fn answers(&self, session: &Value, gap: &str, answer: &str) -> Value {
        self.tries_answer(session, gap, answer).await.expect(200).json()
    }

    pub async fn tries_answer(&self, session: &Value, gap: &str, answer: &str) -> Answer {
        self.post(&self.agent, "resolve-gap", &answering(session, gap, answer)).await
    }

    pub async fn confirms(&self, session: &Value) -> Value {
        self.posts_session(session, "confirm-plan").await
    }

    /// Sends only the session id: to `confirm-plan`, to `attest`.
    pub async fn posts_session(&self, session: &Value, below: &str) -> Value {
        let body = json!({ "session_id": id_of(session) });
        self.post(&self.agent, below, &body).await.expect(200).json()
    }

    pub async fn gaps(&self, session: &Value) -> Value {
        self.get(&self.agent, "list-gaps", session).await.expect(200).json()
    }

    pub async fn status(&self, session: &Value) -> Value {
        self.get(&self.agent, "session-status", session).await.expect(200).json()
    }

    pub async fn audit(&self, session: &Value) -> Value {
        self.get(&self.agent, "audit", session).await.expect(200).json()
    }

    pub async fn handoff(&self, session: &Value) -> Value {
        self.get(&self.agent, "handoff", session).await.expect(200).json()
    }
}

/// The body of an answer.
pub fn answering(session: &Value, gap: &str, answer: &str) -> Value {
    json!({ "session_id": id_of(session), "gap_id": gap, "answer": answer })
}

/// The session id of a document.
pub fn id_of(session: &Value) -> &str {
    session["session_id"].as_str().or(session.as_str()).expect("a session")
}

/// The ids and fields of the open gaps.
pub fn open(checked: &Value) -> Vec<(String, String)> {
    let text = |gap: &Value, name: &str| gap[name].as_str().expect("a text").to_owned();
    let gaps = checked["gaps"].as_array().expect("gaps");
    gaps.iter().map(|gap| (text(gap, "id"), text(gap, "field"))).collect()
}

/// An agent that signs its own answers.
pub struct SigningParty {
    pub agent_id: String,
    pub key: AgentKey,
}

impl SigningParty {
    pub fn new(agent_id: &str, seed: u8) -> Self {
        Self { agent_id: agent_id.to_owned(), key: AgentKey::from_seed([seed; 32]) }
    }

    /// A signed answer to a gap in its current round.
    pub fn signs(&self, checked: &Value, gap: &str, answer: &str, at: &str) -> Value {
        let asks = checked["asks"].as_array().expect("what is asked");
        let ask = asks.iter().find(|ask| ask["gap_id"] == gap).expect("an open gap");
        let body = AnswerBody {
            session_id: id_of(checked).parse().expect("a session"),
            round: ask["round"].as_u64().expect("a round"),
            gap_id: gap.to_owned(),
            answer: answer.to_owned(),
            answer_timestamp: serde_json::from_value(json!(at)).expect("a time"),
            answered_by: AnsweredBy {
                agent_id: self.agent_id.clone(),
                public_key: self.key.public_key(),
                attested: true,
            },
            ask_hash: serde_json::from_value(ask["ask_hash"].clone()).expect("a hash"),
        };
        let mut sent = answering(checked, gap, answer);
        sent["answered_by"] = json!({ "agent_id": self.agent_id, "public_key": self.key.public_key() });
        sent["answer_timestamp"] = json!(at);
        sent["answer_signature"] = json!(self.key.sign_body(&body).expect("a canonical body"));
        sent
    }
}

/// The current time in the format of the documents.
pub fn stamp(plane: &Plane) -> String {
    Stamp::of(plane.now()).to_string()
}
