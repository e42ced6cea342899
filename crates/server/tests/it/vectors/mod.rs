//! The published vectors over HTTP, as data: `tests/data/aap-vectors.json` holds the tokens and
//! `tests/data/aap-failure-vectors.json` the expected response to a request that carries one.

mod modes;
mod replay;

use crate::register::support::{SQLITE, told, with};
use axum::body::Body;
use countersign_jose::SigningKey;
use countersign_protocol::time::UnixMillis;
use countersign_testkit::{
    Answer, Plane, Setup, TestPerson, agent_request, on_sqlite,
    operator_host::{IDENTITY, JWKS},
};
use http::{HeaderName, HeaderValue, Method};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::LazyLock;

const OPERATOR: &str = "test-operator.aap.dev";
const DELEGATION: &str = "del_testk9x2";

static VECTORS: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../../../../tests/data/aap-vectors.json")).unwrap());
static FAILURES: LazyLock<Vec<Failure>> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../../../../tests/data/aap-failure-vectors.json")).unwrap());

/// A change to the valid request, and the response to it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Failure {
    id: String,
    changes: String,
    /// Members of the body that another vector replaces.
    #[serde(default)]
    replaced: serde_json::Map<String, Value>,
    #[serde(default)]
    removed: Vec<String>,
    #[serde(default)]
    headers: serde_json::Map<String, Value>,
    status: u16,
    error: String,
    /// Further fetches of the operator's key set.
    #[serde(default)]
    key_set_fetches: usize,
    /// Headers of the response.
    #[serde(default)]
    answered: Vec<String>,
}

/// The service of the vectors one minute after they were issued, with the delegation that they name.
struct World {
    plane: Plane,
    delegation_token: String,
}

impl World {
    async fn start(kit: countersign_testkit::Kit) -> Self {
        Self::on(kit.plane_with(setup(true)).await).await
    }

    async fn on(plane: Plane) -> Self {
        let plane = publishing_vectors(plane);
        let user = plane.person("user_test_001").await;
        let answer = approve(&plane, &user, Some(DELEGATION)).await.expect(201).json();
        assert_eq!(answer["delegation_id"], DELEGATION);
        Self { delegation_token: answer["delegation_token"].as_str().unwrap().to_owned(), plane }
    }

    fn body(&self) -> Value {
        json!({
            "mode": "user_delegated",
            "operator_jwt": VECTORS["operator_jwt"],
            "delegation_token": self.delegation_token,
            "consent_receipt": VECTORS["consent_receipt"],
        })
    }

    async fn send(&self, failure: &Failure) -> Answer {
        let mut body = self.body();
        for (member, vector) in &failure.replaced {
            body = with(body, member, VECTORS[vector.as_str().unwrap()].clone());
        }
        for member in &failure.removed {
            body = with(body, member, Value::Null);
        }
        let mut request = agent_request(Method::POST, "/agent/register").body(Body::from(body.to_string())).unwrap();
        for (name, value) in &failure.headers {
            let name: HeaderName = name.parse().unwrap();
            request.headers_mut().insert(name, HeaderValue::from_str(value.as_str().unwrap()).unwrap());
        }
        self.plane.send(request).await
    }
}

fn setup(test_mode: bool) -> Setup {
    Setup {
        origin: "https://test-service.aap.dev".into(),
        test_mode,
        now: UnixMillis::from_secs(1_748_822_460),
        operators: vec![OPERATOR, "no-manifest.aap.dev"],
        ..Setup::default()
    }
}

/// The test operator publishes the vectors' key; the other domain exists and publishes nothing.
fn publishing_vectors(mut plane: Plane) -> Plane {
    plane.operators[0].key = published_key();
    plane.operators[0].host.set_document(JWKS, VECTORS["jwks"].to_string());
    plane.operators[1].host.remove(IDENTITY);
    plane
}

fn published_key() -> SigningKey {
    SigningKey::from_jwk(&with(VECTORS["jwks"]["keys"][0].clone(), "d", VECTORS["private_d"].clone())).unwrap()
}

/// The person's two steps, with an id of the test's own for the delegation.
async fn approve(plane: &Plane, user: &TestPerson, id: Option<&str>) -> Answer {
    let request_id = plane.connect_request("", plane.acme(), &["calendar.read", "calendar.write"]).await;
    let shown = user.post(plane, "/agent/delegate", &json!({ "request_id": request_id })).await.expect(200).json();
    let mut yes = json!({
        "request_id": request_id,
        "disclosure_id": shown["disclosure_id"],
        "acknowledged_disclosure": true,
    });
    if let Some(id) = id {
        yes["delegation_id"] = json!(id);
    }
    user.post(plane, "/agent/delegate", &yes).await
}

on_sqlite! {
    /// AAP-23-05, AAP-23-06, AAP-23-07, AAP-23-08, AAP-23-09, AAP-23-11, AAP-23-12, AAP-23-15
    async fn every_failure_vector_is_refused_as_published(kit) {
        let world = World::start(kit).await;
        for failure in FAILURES.iter() {
            let fetched = world.plane.asked.urls().len();
            let answer = world.send(failure).await;
            assert_eq!(answer.refusal(), told(failure.status, &failure.error), "{}: {}", failure.id, failure.changes);
            let key_sets = world.plane.asked.urls().split_off(fetched).iter().filter(|u| u.ends_with(JWKS)).count();
            assert_eq!(key_sets, failure.key_set_fetches, "{}", failure.id);
            for header in &failure.answered {
                assert!(answer.header(header).is_some(), "{}: no {header}", failure.id);
            }
        }
    }

    /// AAP-23-03, AAP-23-04, AAP-19.3-10
    async fn the_valid_vectors_pass(kit) {
        let world = World::start(kit).await;
        let manifest = world.plane.get("/.well-known/agent-auth.json").await.json();
        assert_eq!(manifest["service"], "https://test-service.aap.dev");
        let answer = world.plane.post("/agent/register", &world.body()).await.expect(200).json();
        assert_eq!(answer["session_id"], "sess_testabc");
        let alone = with(world.body(), "consent_receipt", Value::Null);
        world.plane.post("/agent/register", &alone).await.expect(200);
    }
}

/// AAP-23-05
#[tokio::test]
async fn the_expired_vector_would_pass_if_the_clocks_skew_were_all_that_counted() {
    let claims = crate::register::support::claims_of(VECTORS["TV-F-01"].as_str().unwrap());
    let (iat, exp) = (claims["iat"].as_i64().unwrap(), claims["exp"].as_i64().unwrap());
    assert!(exp == iat - 1 && 1_748_822_460 < exp + 300);
}

/// AAP-23-01
#[tokio::test]
async fn outside_test_mode_nothing_that_the_vectors_need_is_let_through() {
    let plane = publishing_vectors(SQLITE.plane_with(setup(false)).await);
    let user = plane.person("user_test_001").await;
    let by_published_key =
        plane.post("/agent/delegate/requests", &plane.connect_body(plane.acme(), &["calendar.read"])).await;
    assert_eq!(by_published_key.refusal(), told(401, "operator_not_found"));
    let body = json!({ "mode": "user_delegated", "operator_jwt": VECTORS["operator_jwt"] });
    assert_eq!(plane.post("/agent/register", &body).await.refusal(), told(401, "operator_not_found"));

    // With a key of its own, that operator still cannot choose an id or a guessable session.
    let mut plane = plane;
    plane.operators[0].key = SigningKey::generate(Some("aap-own-op-1")).unwrap();
    plane.acme().publish(&[&plane.acme().key]);
    plane.advance_secs(61).await;
    assert_eq!(approve(&plane, &user, Some(DELEGATION)).await.refusal(), told(400, "invalid_request"));
    let connected = plane.connect(&user, plane.acme(), &["calendar.read"]).await;
    let receipt = plane.receipt_claims(plane.acme(), "user_test_001", &connected, &["calendar.read"]);
    let register = |receipt: &Value| {
        let receipt = json!(plane.acme().sign_receipt(receipt));
        with(plane.register_body(plane.acme(), &connected), "consent_receipt", receipt)
    };
    let short = with(receipt.clone(), "session_id", json!("sess_testabc"));
    assert_eq!(plane.post("/agent/register", &register(&short)).await.refusal(), told(401, "consent_invalid"));
    plane.post("/agent/register", &register(&receipt)).await.expect(200);
}
