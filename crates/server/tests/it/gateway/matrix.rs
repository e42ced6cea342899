//! 401 for an unknown caller, 403 for a known caller without permission; and one form for every refusal (AAP 16).

use super::proofs::*;
use crate::register::support::{SQLITE, tampered, told, with};
use axum::body::Body;
use countersign_protocol::{aap::error::Code, project::ProjectDocument};
use countersign_server::{LogTo, logs_to};
use countersign_testkit::{
    Answer, agent_request,
    bank::{BankFixture, GatewayRequest, Manner},
    on_sqlite,
};
use http::Method;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// A bank with a route for every reason of refusal.
fn with_limits(document: &mut ProjectDocument) {
    without_nonces(document);
    let route = |id: &str| document.routes.iter().position(|route| route.id == id).unwrap();
    let (notes, orders) = (route("notes"), route("orders"));
    document.routes[notes].max_body_bytes = Some(64);
    document.routes[orders].minimum_tier = Some(3);
    let scope = document.scopes.iter_mut().find(|scope| scope.id == "bank.note").unwrap();
    scope.explicitly_excludes = vec!["payees.remove".into()];
}

/// Requests of a known caller without permission.
fn forbidden() -> [GatewayRequest; 4] {
    [
        BankFixture::transfer(),
        GatewayRequest::new("POST", "/orders").json("{}"),
        GatewayRequest::new("DELETE", "/payees/1"),
        GatewayRequest::new("POST", "/pings").json("{}"),
    ]
}

async fn register(scene: &BankFixture, body: &Value) -> Answer {
    let request = agent_request(Method::POST, "/agent/register");
    scene.plane.send(request.body(Body::from(body.to_string())).unwrap()).await
}

on_sqlite! {
    /// AAP-16.2-24
    async fn an_unknown_caller_gets_401_and_403_is_only_for_known_ones(kit) {
        let scene = kit.bank_with(with_limits).await;
        scene.plane.advance_secs(EPOCH_OVER_S).await;
        let agent = &scene.agent;
        for sent in forbidden() {
            assert_eq!(scene.sends(sent.clone()).await.status, 403, "{sent:?}");
            for (what, unknown) in unknown_callers(&scene, &sent) {
                let answer = scene.sends_raw(unknown).await;
                assert_eq!(answer.status, 401, "{what}, {sent:?}: {}", answer.text());
            }
        }
        let late = scene.authenticated(agent, forbidden()[0].clone());
        scene.sends_raw(late.clone()).await.expect(403);
        assert_eq!(scene.sends_raw(late).await.refusal(), told(401, "dpop_replayed"));
        assert_eq!(scene.bank.got().len(), 0);
        // Registering without a proof is possible only without routes of tier 3.
        let scene = kit.bank_with(without_nonces).await;
        let body = || scene.plane.register_body(scene.plane.acme(), &scene.connected);
        let spoil = |member: &str| {
            let sound = body()[member].as_str().unwrap().to_owned();
            with(body(), member, json!(tampered(&sound)))
        };
        let alone = with(body(), "delegation_token", Value::Null);
        assert_eq!(register(&scene, &alone).await.refusal(), told(403, "tier_not_met"));
        let unproven = with(spoil("operator_jwt"), "delegation_token", Value::Null);
        assert_eq!(register(&scene, &unproven).await.refusal(), told(401, "operator_jwt_invalid"));
        assert_eq!(register(&scene, &spoil("operator_jwt")).await.refusal(), told(401, "operator_jwt_invalid"));
        assert_eq!(register(&scene, &spoil("delegation_token")).await.refusal(), told(401, "delegation_invalid"));
    }
}

/// The same request from unknown callers and from ones that are no longer known.
fn unknown_callers(scene: &BankFixture, sent: &GatewayRequest) -> Vec<(&'static str, GatewayRequest)> {
    let without = |name: &'static str| {
        let mut sent = scene.authenticated(&scene.agent, sent.clone());
        sent.headers.retain(|(own, _)| own != name);
        sent
    };
    let proof = |sent: &GatewayRequest| sent.headers.iter().find(|(name, _)| name == "dpop").unwrap().1.clone();
    let whole = scene.authenticated(&scene.agent, sent.clone());
    vec![
        ("no token", without("authorization")),
        ("an unknown token", without("authorization").with("authorization", "DPoP aat_nobody")),
        ("no proof", without("dpop")),
        ("a bad proof", without("dpop").with("dpop", &tampered(&proof(&whole)))),
        ("no scheme of ours", without("authorization").with("authorization", "Basic YTpi")),
    ]
}

/// AAP-16-01, AAP-16.1-01, AAP-16.1-02, AAP-16.1-03, AAP-16.1-04, AAP-16.1-05
#[tokio::test]
async fn every_refusal_of_the_gateway_is_one_envelope_whose_name_is_in_the_log() {
    let scene = SQLITE.bank_with(with_limits).await;
    scene.plane.advance_secs(EPOCH_OVER_S).await;
    let lines = Arc::new(Mutex::new(Vec::new()));
    let _listening = tracing::subscriber::set_default(logs_to(LogTo::Buffer(Arc::clone(&lines)), true, "info"));
    let answers = refusals(&scene).await;
    let log = String::from_utf8(lines.lock().unwrap().clone()).unwrap();
    for (code, answer) in answers {
        assert_eq!(answer.code(), code);
        let body = answer.json();
        let known: Code = serde_json::from_value(body["error"].clone()).unwrap();
        assert_eq!(known.status(), answer.status, "{code}");
        assert!(!body["error_description"].as_str().unwrap().is_empty(), "{code}");
        assert!(answer.status >= 500 || !body["hint"].as_str().unwrap().is_empty(), "{code}");
        assert_eq!(body.get("docs_url"), None, "{code}");
        assert_eq!(answer.header("content-type"), Some("application/json"), "{code}");
        let name = body["request_id"].as_str().unwrap();
        assert_eq!(answer.header("x-request-id"), Some(name), "{code}");
        assert!(log.contains(name), "{code}");
        let told = answer.text();
        assert!(!told.contains(&scene.agent.access_token) && !told.contains("the-banks-own-secret"), "{told}");
    }
}

/// One refusal of each kind, and its expected code.
async fn refusals(scene: &BankFixture) -> Vec<(&'static str, Answer)> {
    let read = || GatewayRequest::new("GET", "/accounts");
    let note = |text: &str| GatewayRequest::new("POST", "/notes").json(json!({ "text": text }).to_string());
    let without = |name: &str| {
        let mut sent = scene.authenticated(&scene.agent, read());
        sent.headers.retain(|(own, _)| own != name);
        sent
    };
    // First, while no connection from another manner is pooled.
    scene.bank.set_manner(Manner::Vanishing);
    let vanished = scene.sends(note("gone")).await;
    scene.bank.set_manner(Manner::Obliging);
    let replayed = scene.authenticated(&scene.agent, read());
    scene.sends_raw(replayed.clone()).await.expect(200);
    let mut answers = vec![
        ("upstream_failed", vanished),
        ("agent_auth_required", scene.sends_raw(without("authorization")).await),
        ("spec_version_unsupported", scene.sends_raw(without("aap-version")).await),
        ("dpop_missing", scene.sends_raw(without("dpop")).await),
        ("dpop_invalid", scene.sends_raw(without("dpop").with("dpop", "a.b.c")).await),
        ("dpop_replayed", scene.sends_raw(replayed).await),
        ("mode_missing", scene.sends_raw(without("x-agent-mode")).await),
        ("access_token_invalid", scene.sends_raw(without("authorization").with("authorization", "DPoP nobody")).await),
        ("route_not_found", scene.sends(GatewayRequest::new("GET", "/nowhere")).await),
        ("route_not_found", scene.sends(GatewayRequest::new("PUT", "/accounts")).await),
        ("not_found", scene.sends(GatewayRequest::new("GET", "/.countersign/nothing")).await),
        ("payload_too_large", scene.sends(note(&"x".repeat(100))).await),
        ("invalid_request", scene.sends(GatewayRequest::new("POST", "/transfers").json("{")).await),
        ("irreversible_requires_confirm", scene.sends(BankFixture::transfer()).await),
        ("tier_not_met", scene.sends(GatewayRequest::new("POST", "/orders").json("{}")).await),
        ("scope_not_granted", scene.sends(GatewayRequest::new("DELETE", "/payees/1")).await),
    ];
    scene.plane.engine.store().close().await;
    answers.push(("service_unavailable", scene.sends(note("late")).await));
    answers
}
