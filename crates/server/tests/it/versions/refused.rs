//! A version that is not served is refused before any effect (AAP 13.4, 22.2).

use axum::body::Body;
use countersign_testkit::{Answer, Connected, Kit, Plane, Registered, TestPerson, agent_request, on_sqlite, send_to};
use http::{Method, header};
use serde_json::{Value, json};

const UNSERVED: &[&str] = &["1.0", "2.1", "2", "3.0", "9.9", "aap/2.0", "", "2.0.0"];

#[track_caller]
fn says_what_is_accepted(answer: &Answer) {
    assert_eq!(answer.refusal(), (400, "spec_version_unsupported".into()));
    assert_eq!(answer.header("aap-version-accepted"), Some("2.0"));
    assert_eq!(answer.header("x-aap-version-required"), Some("2.0"));
    assert!(answer.json()["hint"].as_str().unwrap().contains("2.0"));
}

/// A fixture in which every request below would succeed with a served version.
struct World {
    plane: Plane,
    alice: TestPerson,
    connected: Connected,
    agent: Registered,
}

impl World {
    async fn new(kit: Kit) -> Self {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        let connected = plane.connect(&alice, plane.acme(), &["calendar.read", "calendar.write"]).await;
        let agent = plane.register(plane.acme(), &connected).await;
        Self { plane, alice, connected, agent }
    }

    /// The whole audit of the delegation.
    async fn audit(&self) -> Value {
        let query = format!("/agent/audit?delegation_id={}", self.connected.delegation_id);
        self.alice.get(&self.plane, &query).await.expect(200).json()
    }

    fn operator_jwt(&self) -> String {
        self.plane.acme().jwt(self.plane.service(), self.plane.now())
    }

    /// Valid requests of an operator and its agent, without their version.
    fn requests(&self) -> Vec<(Method, &'static str, Value)> {
        let (session_id, delegation_id) = (&self.agent.session_id, &self.connected.delegation_id);
        vec![
            (Method::POST, "/agent/register", self.plane.register_body(self.plane.acme(), &self.connected)),
            (Method::POST, "/agent/delegate/requests", self.plane.connect_body(self.plane.acme(), &["calendar.read"])),
            (Method::POST, "/agent/delegate/token", self.plane.exchange_body(self.plane.acme(), "code_unknown")),
            (Method::POST, "/agent/cancel", json!({ "session_id": session_id, "operator_jwt": self.operator_jwt() })),
            (
                Method::POST,
                "/agent/revoke",
                json!({ "delegation_id": delegation_id, "operator_jwt": self.operator_jwt() }),
            ),
        ]
    }

    async fn send(&self, method: Method, path: &str, versions: &[&str], body: &Value) -> Answer {
        let mut request = agent_request(method, path);
        let headers = request.headers_mut().unwrap();
        headers.remove("aap-version");
        for version in versions {
            headers.append("aap-version", version.parse().unwrap());
        }
        self.plane.send(request.body(Body::from(body.to_string())).unwrap()).await
    }
}

on_sqlite! {
    /// AAP-22.2-02, AAP-22.4-03, AAP-23-15
    async fn an_unserved_version_is_refused_with_the_served_ones_and_does_nothing(kit) {
        let world = World::new(kit).await;
        let before = world.audit().await;
        for (method, path, body) in world.requests() {
            for version in UNSERVED {
                says_what_is_accepted(&world.send(method.clone(), path, &[version], &body).await);
            }
            says_what_is_accepted(&world.send(method.clone(), path, &["2.0", "3.0"], &body).await);
            let scoped = format!("/projects/calendar{path}");
            says_what_is_accepted(&world.send(method.clone(), &scoped, &["3.0"], &body).await);
            // The version is checked first, before any other fault (C-93).
            says_what_is_accepted(&world.send(method, path, &["3.0"], &json!(["no", "object"])).await);
        }
        assert_eq!(world.audit().await, before, "something was recorded");
        world.plane.call(&world.agent, Method::GET, "/calendar/events", "READ_CALENDAR").await.expect(200);
    }

    /// AAP-22.2-02: a person's request that names a version must name a served one, too.
    async fn a_person_cannot_revoke_or_agree_under_an_unserved_version(kit) {
        let world = World::new(kit).await;
        let request_id = world.plane.connect_request("", world.plane.acme(), &["calendar.read"]).await;
        for (path, body) in [
            ("/agent/revoke", json!({ "delegation_id": world.connected.delegation_id })),
            ("/agent/delegate", json!({ "request_id": request_id, "approve": false })),
        ] {
            let request = world.alice.request(Method::POST, path).header("x-csrf-token", &world.alice.csrf);
            let request = request.header(header::CONTENT_TYPE, "application/json").header("aap-version", "3.0");
            says_what_is_accepted(&world.plane.send(request.body(Body::from(body.to_string())).unwrap()).await);
        }
        world.plane.call(&world.agent, Method::GET, "/calendar/events", "READ_CALENDAR").await.expect(200);
        world.plane.approve_at("", &world.alice, &request_id).await;
    }

    /// AAP-22.2-02, AAP-23-15
    async fn a_call_under_an_unserved_version_is_neither_forwarded_nor_recorded(kit) {
        let world = World::new(kit).await;
        let before = world.audit().await;
        for (method, intent) in [(Method::GET, "READ_CALENDAR"), (Method::POST, "SCHEDULE_EVENT")] {
            for version in UNSERVED {
                let mut request = world.agent.request(method.clone(), "/calendar/events", intent);
                request.headers_mut().unwrap().insert("aap-version", version.parse().unwrap());
                says_what_is_accepted(&send_to(&world.plane.api(), request.body(Body::empty()).unwrap()).await);
            }
        }
        assert_eq!(world.plane.upstream.reached().len(), 0);
        assert_eq!(world.audit().await, before);
    }

    /// AAP-22.2-02
    async fn the_audit_is_not_read_under_an_unserved_version(kit) {
        let world = World::new(kit).await;
        let path = format!("/agent/audit?delegation_id={}", world.connected.delegation_id);
        for version in UNSERVED {
            let mut request = agent_request(Method::GET, &path);
            request = request.header(header::AUTHORIZATION, format!("Bearer {}", world.agent.access_token));
            request.headers_mut().unwrap().insert("aap-version", version.parse().unwrap());
            says_what_is_accepted(&world.plane.send(request.body(Body::empty()).unwrap()).await);
        }
    }
}
