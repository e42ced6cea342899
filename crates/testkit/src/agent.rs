//! An agent's way through the plane: connected, registered, calling. Each step uses the public API.

use crate::{
    Answer, Plane, TestOperator, TestPerson, challenge_of,
    plane::{agent_request, send_to},
};
use axum::{Router, body::Body};
use countersign_engine::{Address, Engine};
use countersign_gateway::CountersignLayer;
use http::{HeaderName, HeaderValue, Method, header, request::Builder};
use serde_json::{Value, json};
use std::sync::Arc;

/// The verifier of the tests' code challenges.
pub const VERIFIER: &str = "a-code-verifier-of-the-test-that-is-long-enough-0123456789";

/// A delegation that a person granted.
#[derive(Clone, Debug)]
pub struct Connected {
    pub delegation_id: String,
    pub delegation_token: String,
}

/// An AAP session with an access token.
#[derive(Clone, Debug)]
pub struct Registered {
    pub access_token: String,
    pub session_id: String,
    pub delegation_id: Option<String>,
    pub answer: Value,
}

impl Plane {
    /// The body of an operator's connection request.
    pub fn connect_body(&self, operator: &TestOperator, scopes: &[&str]) -> Value {
        json!({
            "operator_jwt": operator.jwt(self.service(), self.now()),
            "mode": "user_delegated",
            "scopes": scopes,
            "code_challenge": challenge_of(VERIFIER),
            "state": "state-of-the-test",
        })
    }

    /// An operator's connection request; returns its id.
    pub async fn connect_request(&self, prefix: &str, operator: &TestOperator, scopes: &[&str]) -> String {
        let answer =
            self.post(&format!("{prefix}/agent/delegate/requests"), &self.connect_body(operator, scopes)).await;
        answer.expect(201).json()["request_id"].as_str().unwrap().to_owned()
    }

    /// The whole bootstrap: request, disclosure, approval, exchange.
    pub async fn connect(&self, person: &TestPerson, operator: &TestOperator, scopes: &[&str]) -> Connected {
        self.connect_at("", person, operator, scopes).await
    }

    pub async fn connect_at(
        &self,
        prefix: &str,
        person: &TestPerson,
        operator: &TestOperator,
        scopes: &[&str],
    ) -> Connected {
        let request_id = self.connect_request(prefix, operator, scopes).await;
        let code = self.approve_at(prefix, person, &request_id).await["code"].as_str().unwrap().to_owned();
        let answer = self.post(&format!("{prefix}/agent/delegate/token"), &self.exchange_body(operator, &code)).await;
        let token = answer.expect(200).json();
        Connected {
            delegation_id: token["delegation_id"].as_str().unwrap().to_owned(),
            delegation_token: token["delegation_token"].as_str().unwrap().to_owned(),
        }
    }

    /// The person's two steps; returns the body of the 201.
    pub async fn approve_at(&self, prefix: &str, person: &TestPerson, request_id: &str) -> Value {
        let path = format!("{prefix}/agent/delegate");
        let shown = person.post(self, &path, &json!({ "request_id": request_id })).await.expect(200).json();
        let yes = json!({
            "request_id": request_id,
            "disclosure_id": shown["disclosure_id"],
            "acknowledged_disclosure": true,
        });
        person.post(self, &path, &yes).await.expect(201).json()
    }

    pub fn exchange_body(&self, operator: &TestOperator, code: &str) -> Value {
        json!({ "operator_jwt": operator.jwt(self.service(), self.now()), "code": code, "code_verifier": VERIFIER })
    }

    /// The body of a registration without a receipt.
    pub fn register_body(&self, operator: &TestOperator, connected: &Connected) -> Value {
        json!({
            "mode": "user_delegated",
            "operator_jwt": operator.jwt(self.service(), self.now()),
            "delegation_token": connected.delegation_token,
        })
    }

    /// JWT claims of a receipt for a person and delegation: a day from now, a fresh session id.
    pub fn receipt_claims(
        &self,
        operator: &TestOperator,
        person: &str,
        connected: &Connected,
        scopes: &[&str],
    ) -> Value {
        json!({
            "iss": operator.domain(),
            "aud": self.service(),
            "sub": person,
            "delegation_id": connected.delegation_id,
            "session_id": format!("sess_{:032x}", 0xfeed_u128 + u128::from(self.now().0.unsigned_abs())),
            "intent": "withheld",
            "intent_type": "SCHEDULE_EVENT",
            "scopes": scopes,
            "consent_method": "explicit_ui",
            "iat": self.now().secs(),
            "exp": self.now().secs() + 86400,
        })
    }

    pub async fn register(&self, operator: &TestOperator, connected: &Connected) -> Registered {
        self.register_with(&self.register_body(operator, connected), Some(connected)).await
    }

    /// Registers with a body of the test's own.
    pub async fn register_with(&self, body: &Value, connected: Option<&Connected>) -> Registered {
        let answer = self.post("/agent/register", body).await.expect(200).json();
        Registered {
            access_token: answer["access_token"].as_str().unwrap().to_owned(),
            session_id: answer["session_id"].as_str().unwrap().to_owned(),
            delegation_id: connected.map(|c| c.delegation_id.clone()),
            answer,
        }
    }

    /// An agent's call of the API behind the gateway.
    pub async fn call(&self, agent: &Registered, method: Method, path: &str, intent: &str) -> Answer {
        self.call_at(&self.api(), agent, method, path, intent).await
    }

    pub async fn call_at(&self, api: &Router, agent: &Registered, method: Method, path: &str, intent: &str) -> Answer {
        send_to(api, agent.request(method, path, intent).body(Body::empty()).unwrap()).await
    }

    /// A page of the audit, as the operator reads it.
    pub async fn audit(&self, operator: &TestOperator, query: &str) -> Answer {
        let request = agent_request(Method::GET, &format!("/agent/audit?{query}"));
        let request =
            request.header(header::AUTHORIZATION, format!("Bearer {}", operator.jwt(self.service(), self.now())));
        self.send(request.body(Body::empty()).unwrap()).await
    }

    /// Sends a request of the test's own to the API behind the gateway.
    pub async fn try_call(&self, request: Builder) -> Answer {
        send_to(&self.api(), request.body(Body::empty()).unwrap()).await
    }

    /// The API behind another node's gateway.
    pub fn api_of(&self, engine: &Arc<Engine>) -> Router {
        self.upstream.router().layer(CountersignLayer::new(Arc::clone(engine), Address::Unscoped))
    }
}

impl Registered {
    /// A request with all headers of an agent.
    pub fn request(&self, method: Method, path: &str, intent: &str) -> http::request::Builder {
        let request = agent_request(method, path)
            .header(header::AUTHORIZATION, format!("Bearer {}", self.access_token))
            .header("x-agent-mode", "user_delegated")
            .header("x-agent-session", &self.session_id)
            .header("x-agent-intent-type", intent);
        match &self.delegation_id {
            Some(id) => request.header("x-agent-delegation", id),
            None => request,
        }
    }
}

/// Removes or replaces headers of a request builder.
pub trait Altered {
    fn without(self, name: &'static str) -> Self;
    fn instead(self, name: &'static str, value: &str) -> Self;
}

impl Altered for Builder {
    fn without(mut self, name: &'static str) -> Self {
        self.headers_mut().expect("a sound request so far").remove(name);
        self
    }

    fn instead(mut self, name: &'static str, value: &str) -> Self {
        let value = HeaderValue::from_str(value).expect("a header's value");
        self.headers_mut().expect("a sound request so far").insert(HeaderName::from_static(name), value);
        self
    }
}
