//! Requests refused by HTTP rules, a limit, a stopped store, a panicking handler or a failing upstream.

use super::assert_envelope;
use axum::body::Body;
use bytes::Bytes;
use countersign_engine::{
    Address, Clock, Engine, Entropy, KnownOperator, ManualClock, OperatorError, Operators, PasswordCost, Settings,
    Tenancy, Throttle,
    store::{self, StoreLocation, StoreOptions},
};
use countersign_gateway::CountersignLayer;
use countersign_protocol::{domain::Domain, origin::Origin, time::UnixMillis};
use countersign_server::{App, Limits, Metrics};
use countersign_testkit::{Answer, Backend, Kit, Plane, Setup, TestOperator, agent_request, calendar, on_both_stores};
use http::{Method, Request, Response, header};
use serde_json::json;
use std::{sync::Arc, time::Duration};

async fn plane() -> Plane {
    Kit(Backend::Sqlite).plane().await
}

/// AAP-16-01, AAP-16.1-03
#[tokio::test]
async fn an_address_where_nothing_is_says_so_in_the_envelope() {
    let plane = plane().await;
    let below = ["/nothing", "/agent", "/agent/", "/agent/register/", "/AGENT/register", "/.well-known/nothing.json"];
    for path in below.iter().chain(&["/projects/calendar/agent/nothing", "/v1/nothing", "/%FF"]) {
        for method in [Method::GET, Method::POST, Method::DELETE] {
            let answer = plane.send(agent_request(method, path).body(Body::empty()).unwrap()).await;
            assert_envelope(&answer, 404, "not_found");
        }
    }
}

/// AAP-16-01, AAP-16.1-03
#[tokio::test]
async fn a_wrong_method_is_refused_with_the_right_ones() {
    let plane = plane().await;
    for (path, allowed) in [
        ("/agent/register", "POST"),
        ("/projects/calendar/agent/revoke", "POST"),
        ("/agent/audit", "GET,HEAD"),
        ("/.well-known/agent-auth.json", "GET,HEAD"),
        ("/.well-known/agent-jwks.json", "GET,HEAD"),
        ("/v1/project", "GET,HEAD,PUT"),
        ("/session", "GET,HEAD,POST,DELETE"),
    ] {
        let answer = plane.send(agent_request(Method::PATCH, path).body(Body::empty()).unwrap()).await;
        assert_envelope(&answer, 405, "method_not_allowed");
        let mut told: Vec<&str> = answer.header("allow").expect("Allow").split(',').map(str::trim).collect();
        let mut wanted: Vec<&str> = allowed.split(',').collect();
        told.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(told, wanted, "{path}");
    }
}

/// Every endpoint that reads a body.
const WITH_BODY: &[&str] = &[
    "/agent/register",
    "/agent/delegate",
    "/agent/delegate/requests",
    "/agent/delegate/token",
    "/agent/revoke",
    "/agent/cancel",
    "/agent/heartbeat",
    "/session",
];

/// AAP-16-01, AAP-16.1-03
#[tokio::test]
async fn a_body_that_is_too_large_or_of_another_kind_is_not_read() {
    let plane = plane().await;
    for path in WITH_BODY {
        let padded = json!({ "padding": "x".repeat(64 * 1024) }).to_string();
        let large = agent_request(Method::POST, path).body(Body::from(padded)).unwrap();
        assert_envelope(&plane.send(large).await, 413, "payload_too_large");
        for kind in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""] {
            let mut request = agent_request(Method::POST, path);
            request.headers_mut().unwrap().insert(header::CONTENT_TYPE, kind.parse().unwrap());
            let answer = plane.send(request.body(Body::from("{}")).unwrap()).await;
            assert_envelope(&answer, 415, "unsupported_media_type");
        }
        let bare = Request::post(*path).header("aap-version", "2.0").body(Body::from("{}")).unwrap();
        assert_envelope(&plane.send(bare).await, 415, "unsupported_media_type");
    }
    let parameters = Request::post("/agent/register").header("aap-version", "2.0");
    let parameters = parameters.header(header::CONTENT_TYPE, "Application/JSON; charset=utf-8");
    let parameters = parameters.body(Body::from(r#"{"operator_jwt":"a.b.c"}"#));
    assert_envelope(&plane.send(parameters.unwrap()).await, 400, "mode_missing");
}

/// AAP-16-01
#[tokio::test]
async fn a_request_that_never_arrives_whole_is_given_up() {
    let limits = Limits { request: Duration::from_millis(20), ..Limits::default() };
    let plane = Kit(Backend::Sqlite).plane_with(Setup { limits, ..Setup::default() }).await;
    for path in ["/agent/register", "/agent/delegate/requests"] {
        let never = futures_util::stream::pending::<Result<Bytes, std::io::Error>>();
        let answer = plane.send(agent_request(Method::POST, path).body(Body::from_stream(never)).unwrap()).await;
        assert_envelope(&answer, 408, "request_timeout");
        assert_eq!(answer.header("aap-version-served"), Some("2.0"));
    }
}

/// AAP-16-01
#[tokio::test]
async fn a_body_that_breaks_off_is_refused() {
    let plane = plane().await;
    let cut = futures_util::stream::iter([Ok(Bytes::from("{\"mode\"")), Err(std::io::Error::other("gone"))]);
    let answer = plane.send(agent_request(Method::POST, "/agent/register").body(Body::from_stream(cut)).unwrap()).await;
    assert_envelope(&answer, 400, "invalid_request");
}

on_both_stores! {
    /// AAP-16-01
    async fn a_store_that_takes_nothing_is_a_503_in_the_envelope_and_nothing_is_forwarded(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        let connected = plane.connect(&alice, plane.acme(), &["calendar.read", "calendar.write"]).await;
        let agent = plane.register(plane.acme(), &connected).await;
        plane.engine.store().close().await;
        let body = plane.register_body(plane.acme(), &connected);
        for answer in [
            plane.post("/agent/register", &body).await,
            plane.post("/agent/delegate/requests", &plane.connect_body(plane.acme(), &["calendar.read"])).await,
            plane.call(&agent, Method::POST, "/calendar/events", "SCHEDULE_EVENT").await,
        ] {
            assert_envelope(&answer, 503, "service_unavailable");
            assert_eq!(answer.header("retry-after"), Some("1"));
            assert_eq!(answer.header("aap-version-served"), Some("2.0"));
        }
        assert_eq!(plane.upstream.reached().len(), 0);
    }
}

/// AAP-16-01, AAP-G-23
#[tokio::test]
async fn a_panic_in_a_handler_is_a_500_that_reveals_nothing() {
    let plane = plane().await;
    let router = countersign_server::router(app_that_panics().await);
    let body = json!({ "mode": "user_delegated", "operator_jwt": operator_jwt(&plane, plane.acme()) });
    let request = agent_request(Method::POST, "/agent/register").body(Body::from(body.to_string())).unwrap();
    let answer = Answer::to(&router, request).await;
    assert_envelope(&answer, 500, "internal_error");
    assert_eq!(answer.header("aap-version-served"), Some("2.0"));
    assert!(!answer.text().contains(SECRET), "{}", answer.text());
    let after = Answer::to(&router, Request::get("/.well-known/agent-auth.json").body(Body::empty()).unwrap()).await;
    after.expect(200);
}

fn operator_jwt(plane: &Plane, operator: &TestOperator) -> String {
    operator.jwt(plane.service(), plane.now())
}

const SECRET: &str = "what only the log may say";

/// An operator directory that panics on every lookup.
struct Broken;

#[async_trait::async_trait]
impl Operators for Broken {
    async fn operator(&self, _: &Domain, _: &str, _: UnixMillis, _: &str) -> Result<KnownOperator, OperatorError> {
        panic!("{SECRET}")
    }

    async fn last_published(&self, _: &Domain, _: &str, _: UnixMillis) -> Result<Option<UnixMillis>, OperatorError> {
        panic!("{SECRET}")
    }
}

/// The real router around an engine with a panicking port.
async fn app_that_panics() -> App {
    let now = Setup::default().now;
    let store = store::open(StoreOptions { readers: 8, place: StoreLocation::Temporary, clock: Arc::new(move || now) })
        .await
        .unwrap();
    let settings = Settings {
        origin: Origin::parse("https://api.example.test").unwrap(),
        tenancy: Tenancy::Single,
        gateway: None,
        subdomains: false,
        test_mode: false,
        throttle: Throttle::default(),
        connect_requests_per_minute: 60,
        sign_in_lifetime_s: 3600,
        fresh_s: 300,
        password_cost: PasswordCost { memory_kib: 8, passes: 1 },
        unrecorded_outcomes: None,
        retention: countersign_engine::store::Retention::default(),
        evidence: countersign_engine::EvidenceSettings::default(),
    };
    let (clock, chance) = (Clock::Manual(ManualClock::at(now)), Entropy::seeded(1));
    let engine = Engine::start(settings, store, clock, chance, &[7; 32], Arc::new(Broken)).await.unwrap();
    engine.apply_project(calendar("calendar"), "test").await.unwrap();
    App::new(engine, Limits::default(), Vec::new(), Metrics::default(), 1)
}

/// AAP-16-01
#[tokio::test]
async fn a_service_behind_the_gateway_that_fails_is_answered_for_and_recorded() {
    let plane = plane().await;
    let alice = plane.person("alice").await;
    let connected = plane.connect(&alice, plane.acme(), &["calendar.read", "calendar.write"]).await;
    let agent = plane.register(plane.acme(), &connected).await;
    let layer = CountersignLayer::new(Arc::clone(&plane.engine), Address::Unscoped);
    for (method, intent) in [(Method::GET, "READ_CALENDAR"), (Method::POST, "SCHEDULE_EVENT")] {
        let broken =
            tower::service_fn(|_: Request<Body>| async { Err::<Response<Body>, _>(std::io::Error::other("down")) });
        let service = tower::Layer::layer(&layer, broken);
        let request = agent.request(method, "/calendar/events", intent).body(Body::empty()).unwrap();
        let response = tower::ServiceExt::oneshot(service, request).await.unwrap();
        assert_envelope(&Answer::read(response.map(Body::new)).await, 502, "upstream_failed");
    }
    let audit = alice.get(&plane, &format!("/agent/audit?delegation_id={}", connected.delegation_id)).await.json();
    let outcomes: Vec<_> = audit["entries"].as_array().unwrap().iter().filter_map(|e| e["outcome"].as_str()).collect();
    assert_eq!(outcomes, ["unknown: the upstream failed"; 2]);
}
