//! Fixtures for decisions: asking agents, answering people, and a project with policies about both.

use crate::{Answer, Kit, Plane, Registered, Setup, TestPerson, calendar};
use axum::{Router, body::Body};
use countersign_engine::{
    Address, AnswerContent, Answered, ApiKeyKind, CountedAnswer, Extra, NewKey, NotCounted, ProjectAt, ProjectMember,
};
use countersign_protocol::{aaep::event::YesNo, project::ProjectDocument};
use http::{Method, Request, header};
use serde_json::{Value, json};

/// The calendar's project, with policies about agent actions.
///
/// | action | irreversible | risk | approvers | beside |
/// |---|---|---|---|---|
/// | `payments.send` | yes | high | own person | |
/// | `payments.release` | yes | high | role:approver | needs a fresh sign-in |
/// | `mail.send` | yes | low | own person | |
/// | `notes.tidy` | no | low | own person | accept by default, 60 s |
/// | `notes.archive` | no | medium | own person | reject by default, 10 to 120 s |
/// | `notes.purge` | no | high | own person | |
pub fn payments(id: &str) -> ProjectDocument {
    let mut document = calendar(id);
    let actions = json!([
        { "name": "payments.send" },
        { "name": "payments.release", "approvers": ["role:approver"], "assurance": "fresh" },
        { "name": "mail.send", "risk": "low" },
        { "name": "notes.tidy", "irreversible": false, "risk": "low", "timeout_seconds": 60,
          "default_decision": "accept" },
        { "name": "notes.archive", "irreversible": false, "risk": "medium", "timeout_seconds": 60,
          "min_timeout_seconds": 10, "max_timeout_seconds": 120 },
        { "name": "notes.purge", "irreversible": false, "risk": "high" },
    ]);
    document.actions = serde_json::from_value(actions).expect("policies");
    document
}

impl Setup {
    /// The usual plane with [`payments`].
    pub fn payments() -> Self {
        Self::payments_with(|_| {})
    }

    pub fn payments_with(change: impl FnOnce(&mut ProjectDocument)) -> Self {
        let mut document = payments("calendar");
        change(&mut document);
        Self { projects: vec![document], ..Self::default() }
    }
}

/// The usual fixture of decision tests: alice is signed in, and a program of hers has an API key.
pub struct DecisionFixture {
    pub plane: Plane,
    pub alice: TestPerson,
    pub agent: TestAgent,
}

impl Kit {
    pub async fn decision_fixture(self) -> DecisionFixture {
        self.decision_fixture_with(Setup::payments()).await
    }

    pub async fn decision_fixture_with(self, setup: Setup) -> DecisionFixture {
        DecisionFixture::on(self.plane_with(setup).await).await
    }
}

impl DecisionFixture {
    pub async fn on(plane: Plane) -> Self {
        let alice = plane.person("alice").await;
        let agent = plane.agent_key("alice", ALL).await;
        Self { plane, alice, agent }
    }
}

/// Every action of [`payments`].
pub const ALL: &[&str] =
    &["payments.send", "payments.release", "mail.send", "notes.tidy", "notes.archive", "notes.purge"];

/// A client of `/v1`: the holder of an API key or of an access token.
#[derive(Clone, Debug)]
pub struct TestAgent {
    pub token: String,
    /// The key's or the delegation's id.
    pub principal: String,
}

impl Plane {
    /// A program with an API key of its own, and its responsible person.
    pub async fn agent_key(&self, responsible: &str, actions: &[&str]) -> TestAgent {
        self.key_of(ApiKeyKind::Agent, responsible, actions, &[]).await
    }

    pub async fn key_of(&self, kind: ApiKeyKind, responsible: &str, actions: &[&str], asks: &[&str]) -> TestAgent {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let new = NewKey {
            kind,
            principal: "the nightly job".into(),
            responsible: responsible.into(),
            actions: owned(actions),
            asks: owned(asks),
            jkt: None,
        };
        let added = self.engine.people().add_key(&self.at().await.project, &new).await.expect("a key");
        TestAgent { token: added.secret, principal: added.key.id }
    }

    pub async fn revoke_key(&self, agent: &TestAgent) {
        self.engine.people().revoke_key(&self.at().await.project, &agent.principal).await.expect("a key to revoke");
    }

    /// The only project.
    pub async fn at(&self) -> ProjectAt {
        self.engine.project(&Address::Unscoped).await.expect("a project")
    }
}

impl Registered {
    /// The same agent as a client of `/v1`, with its access token.
    pub fn as_test_agent(&self) -> TestAgent {
        TestAgent { token: self.access_token.clone(), principal: self.delegation_id.clone().unwrap_or_default() }
    }
}

impl TestAgent {
    /// Requests approval for a tool with arguments; returns the pending decision.
    pub async fn requests_approval(&self, plane: &Plane, tool: &str, arguments: Value) -> Value {
        self.requests_confirmation(plane, &confirmation(tool, arguments)).await.expect(201).json()
    }

    pub async fn requests_confirmation(&self, plane: &Plane, body: &Value) -> Answer {
        self.post(plane, "/v1/confirmations", body).await
    }

    pub async fn requests_clarification(&self, plane: &Plane, body: &Value) -> Answer {
        self.post(plane, "/v1/clarifications", body).await
    }

    pub async fn reads_decision(&self, plane: &Plane, decision: &Value) -> Answer {
        self.send(&plane.public, Method::GET, &path(decision, ""), None).await
    }

    /// Waits for the outcome, for at most `seconds`.
    pub async fn waits(&self, plane: &Plane, decision: &Value, seconds: u32) -> Answer {
        self.send(&plane.public, Method::GET, &path(decision, &format!("?wait={seconds}")), None).await
    }

    pub async fn claims(&self, plane: &Plane, decision: &Value, body: &Value) -> Answer {
        self.post(plane, &path(decision, "/claim"), body).await
    }

    pub async fn reports(&self, plane: &Plane, decision: &Value, status: &str) -> Answer {
        self.post(plane, &path(decision, "/outcome"), &json!({ "status": status })).await
    }

    pub async fn withdraws(&self, plane: &Plane, decision: &Value, body: &Value) -> Answer {
        self.post(plane, &path(decision, "/withdraw"), body).await
    }

    pub async fn post(&self, plane: &Plane, path: &str, body: &Value) -> Answer {
        self.send(&plane.public, Method::POST, path, Some(body.to_string())).await
    }

    /// Sends through the router of any node.
    pub async fn send(&self, node: &Router, method: Method, path: &str, body: Option<String>) -> Answer {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::AUTHORIZATION, format!("Bearer {}", self.token))
            .header(header::CONTENT_TYPE, "application/json");
        crate::plane::send_own(node, request.body(Body::from(body.unwrap_or_default())).unwrap()).await
    }
}

/// The body of a question about a tool.
pub fn confirmation(tool: &str, arguments: Value) -> Value {
    json!({
        "action": format!("Call {tool}"),
        "consequence": "what was asked for is done",
        "tool": tool,
        "arguments": arguments,
    })
}

/// The path of a decision and its subresources.
fn path(decision: &Value, below: &str) -> String {
    format!("/v1/decisions/{}{below}", decision["decision_id"].as_str().expect("a decision"))
}

impl TestPerson {
    pub async fn accepts(&self, plane: &Plane, decision: &Value) -> CountedAnswer {
        self.submits_answer(plane, decision, reply(YesNo::Accept, None, None), Extra::default())
            .await
            .expect("a yes that counts")
    }

    pub async fn rejects(&self, plane: &Plane, decision: &Value, reason: Option<&str>) -> CountedAnswer {
        self.submits_answer(plane, decision, reply(YesNo::Reject, reason, None), Extra::default())
            .await
            .expect("a no that counts")
    }

    /// Approves a modified action, which counts as a rejection.
    pub async fn proposes(&self, plane: &Plane, decision: &Value, instead: Value) -> CountedAnswer {
        self.submits_answer(plane, decision, reply(YesNo::Accept, None, Some(instead)), Extra::default())
            .await
            .expect("a proposal that counts")
    }

    pub async fn answers(&self, plane: &Plane, decision: &Value, response: Value) -> CountedAnswer {
        let given = AnswerContent::Response { response, confidence: None };
        self.submits_answer(plane, decision, given, Extra::default()).await.expect("an answer that counts")
    }

    /// Tries to approve or reject; returns why it did not count.
    pub async fn tries(&self, plane: &Plane, decision: &Value, yes: bool) -> Option<NotCounted> {
        let decided = if yes { YesNo::Accept } else { YesNo::Reject };
        self.submits_answer(plane, decision, reply(decided, None, None), Extra::default()).await.err()
    }

    pub async fn responds(&self, plane: &Plane, decision: &Value, response: Value) -> Option<NotCounted> {
        self.submits_answer(plane, decision, AnswerContent::Response { response, confidence: None }, Extra::default())
            .await
            .err()
    }

    pub(crate) async fn submits_answer(
        &self,
        plane: &Plane,
        decision: &Value,
        given: AnswerContent,
        extra: Extra,
    ) -> Answered {
        let by = self.answerer(plane).await;
        let (claimed_at, decided_by, correlation_id) = (plane.now(), None, None);
        let answer = countersign_engine::Answer { by, given, claimed_at, decided_by, correlation_id, extra };
        let id = decision["decision_id"].as_str().expect("a decision");
        plane.engine.decisions().answer_by_id(&plane.at().await, id, &answer).await
    }

    pub(crate) async fn member(&self, plane: &Plane, at: &ProjectAt) -> ProjectMember {
        let secret = self.cookie.split_once('=').expect("a cookie").1;
        let who = plane.engine.people().signed_in(secret).await.expect("a store").expect("a sign-in");
        plane.engine.people().member(&who, at.project.key).await.expect("a member")
    }

    /// Number of the person's pending questions.
    pub async fn pending_questions(&self, plane: &Plane) -> usize {
        let at = plane.at().await;
        let member = self.member(plane, &at).await;
        plane.engine.decisions().inbox(&at, &member).await.expect("an inbox").len()
    }
}

fn reply(decision: YesNo, reason: Option<&str>, modified_action: Option<Value>) -> AnswerContent {
    AnswerContent::Reply { decision, rationale: reason.map(str::to_owned), modified_action }
}
