//! One project or many, each with its own address, none reachable through another.

mod isolation;
mod isolation_of_people;
mod limits;
mod many;
mod one;
mod pages;

use axum::body::Body;
use countersign_engine::Address;
use countersign_testkit::{Answer, Connected, Plane, Registered, TestOperator, TestPerson, agent_request};
use http::{Method, header, request::Builder};
use serde_json::{Value, json};

const BASE: &str = "api.example.test";

/// An address of a project: by path on the base host, or by the project's own host.
#[derive(Clone, Debug)]
struct Door {
    project: &'static str,
    prefix: String,
    host: String,
    address: Address,
}

impl Door {
    fn by_path(project: &'static str) -> Self {
        let address = Address::Scoped(project.into());
        Self { project, prefix: format!("/projects/{project}"), host: BASE.into(), address }
    }

    fn by_host(project: &'static str) -> Self {
        let address = Address::Subdomain(project.into());
        Self { project, prefix: String::new(), host: format!("{project}.{BASE}"), address }
    }

    /// Both addresses of one project.
    fn both(project: &'static str) -> [Self; 2] {
        [Self::by_path(project), Self::by_host(project)]
    }

    /// The expected `aud` at this address.
    fn service(&self) -> String {
        format!("https://{}", self.host)
    }

    fn jwt(&self, plane: &Plane, operator: &TestOperator) -> String {
        operator.jwt(&self.service(), plane.now())
    }

    fn path(&self, path: &str) -> String {
        format!("{}{path}", self.prefix)
    }

    /// Adds the `Host` header of this address.
    fn at(&self, request: Builder) -> Builder {
        request.header(header::HOST, &self.host)
    }

    async fn post(&self, plane: &Plane, path: &str, body: &Value) -> Answer {
        let request = self.at(agent_request(Method::POST, &self.path(path)));
        plane.send(request.body(Body::from(body.to_string())).unwrap()).await
    }

    async fn person(&self, plane: &Plane, who: &TestPerson, method: Method, path: &str, body: &Value) -> Answer {
        let request = self.at(who.request(method, &self.path(path))).header("x-csrf-token", &who.csrf);
        let request = request.header(header::CONTENT_TYPE, "application/json");
        plane.send(request.body(Body::from(body.to_string())).unwrap()).await
    }

    async fn read(&self, plane: &Plane, who: &TestPerson, path: &str) -> Answer {
        plane.send(self.at(who.request(Method::GET, &self.path(path))).body(Body::empty()).unwrap()).await
    }

    /// A call of the project's API.
    async fn call(&self, plane: &Plane, agent: &Registered) -> Answer {
        let api = plane.api_at(self.address.clone());
        plane.call_at(&api, agent, Method::GET, "/calendar/events", "READ_CALENDAR").await
    }

    async fn connect_request(&self, plane: &Plane, operator: &TestOperator) -> String {
        let mut body = plane.connect_body(operator, &["calendar.read", "calendar.write"]);
        body["operator_jwt"] = json!(self.jwt(plane, operator));
        let answer = self.post(plane, "/agent/delegate/requests", &body).await.expect(201).json();
        answer["request_id"].as_str().unwrap().to_owned()
    }

    async fn show(&self, plane: &Plane, who: &TestPerson, request_id: &str) -> Answer {
        let body = json!({ "request_id": request_id });
        self.person(plane, who, Method::POST, "/agent/delegate", &body).await
    }

    async fn agree(&self, plane: &Plane, who: &TestPerson, request_id: &str, disclosure_id: &Value) -> Answer {
        let body = json!({ "request_id": request_id, "disclosure_id": disclosure_id, "acknowledged_disclosure": true });
        self.person(plane, who, Method::POST, "/agent/delegate", &body).await
    }

    async fn exchange(&self, plane: &Plane, operator: &TestOperator, code: &str) -> Answer {
        let mut body = plane.exchange_body(operator, code);
        body["operator_jwt"] = json!(self.jwt(plane, operator));
        self.post(plane, "/agent/delegate/token", &body).await
    }

    /// From the operator's request to its token.
    async fn connect(&self, plane: &Plane, who: &TestPerson, operator: &TestOperator) -> Connected {
        let request_id = self.connect_request(plane, operator).await;
        let shown = self.show(plane, who, &request_id).await.expect(200).json();
        let granted = self.agree(plane, who, &request_id, &shown["disclosure_id"]).await.expect(201).json();
        let token = self.exchange(plane, operator, granted["code"].as_str().unwrap()).await.expect(200).json();
        Connected {
            delegation_id: token["delegation_id"].as_str().unwrap().to_owned(),
            delegation_token: token["delegation_token"].as_str().unwrap().to_owned(),
        }
    }

    async fn register(&self, plane: &Plane, connected: &Connected, receipt: Option<&str>) -> Answer {
        let mut body = json!({
            "mode": "user_delegated",
            "operator_jwt": self.jwt(plane, plane.acme()),
            "delegation_token": connected.delegation_token,
        });
        if let Some(receipt) = receipt {
            body["consent_receipt"] = json!(receipt);
        }
        self.post(plane, "/agent/register", &body).await
    }

    async fn registered(&self, plane: &Plane, connected: &Connected, receipt: Option<&str>) -> Registered {
        let answer = self.register(plane, connected, receipt).await.expect(200).json();
        Registered {
            access_token: answer["access_token"].as_str().unwrap().to_owned(),
            session_id: answer["session_id"].as_str().unwrap().to_owned(),
            delegation_id: Some(connected.delegation_id.clone()),
            answer,
        }
    }

    /// A receipt for the named session, so that both projects can have one of the same name.
    fn receipt(&self, plane: &Plane, connected: &Connected, who: &str, session: &str) -> String {
        let mut claims = plane.receipt_claims(plane.acme(), who, connected, &["calendar.read"]);
        claims["aud"] = json!(self.service());
        claims["session_id"] = json!(session);
        plane.acme().sign_receipt(&claims)
    }

    async fn audit(&self, plane: &Plane, who: &TestPerson, query: &str) -> Answer {
        self.read(plane, who, &format!("/agent/audit?{query}")).await
    }
}
