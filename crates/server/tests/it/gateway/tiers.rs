//! Tier 3: operator, delegation and receipt, and a token that is bound to a key (AAP 2, C-25, C-26).

use super::proofs::*;
use crate::register::support::{told, with};
use axum::body::Body;
use countersign_jose::SigningKey;
use countersign_protocol::{aap::manifest::ConformanceTier, project::ProjectDocument};
use countersign_testkit::{
    Answer, Kit, agent_request,
    bank::{BankFixture, GatewayRequest, SCOPES},
    on_sqlite,
};
use http::Method;
use serde_json::{Value, json};

/// A bank with agents that were connected before it became as strict as this.
async fn strict(kit: Kit, change: fn(&mut ProjectDocument)) -> BankFixture {
    let scene = kit.bank_with(without_nonces).await;
    scene.plane.advance_secs(EPOCH_OVER_S).await;
    let mut document = (*scene.plane.at().await.project.document).clone();
    change(&mut document);
    scene.plane.engine.apply_project(document, "test").await.unwrap();
    scene
}

fn at_tier(tier: u8) -> fn(&mut ProjectDocument) {
    match tier {
        1 => |document| document.minimum_tier = 1,
        2 => |document| document.minimum_tier = 2,
        _ => |document| document.minimum_tier = 3,
    }
}

fn body(scene: &BankFixture) -> Value {
    scene.plane.register_body(scene.plane.acme(), &scene.connected)
}

/// A body with a receipt of alice, for a session of its own.
fn consented(scene: &BankFixture) -> Value {
    let acme = scene.plane.acme();
    let claims = scene.plane.receipt_claims(acme, "alice", &scene.connected, SCOPES);
    with(body(scene), "consent_receipt", json!(acme.sign_receipt(&claims)))
}

async fn register(scene: &BankFixture, key: &SigningKey, body: &Value) -> Answer {
    let url = format!("{}/agent/register", scene.plane.service());
    let claims = json!({ "jti": fresh(), "htm": "POST", "htu": url, "iat": scene.plane.now().secs() });
    let proof = key.sign_with_header(&header_of(key), &claims).unwrap();
    let request = agent_request(Method::POST, "/agent/register").header("dpop", proof);
    scene.plane.send(request.body(Body::from(body.to_string())).unwrap()).await
}

fn new_key() -> SigningKey {
    SigningKey::generate(None).unwrap()
}

on_sqlite! {
    /// AAP-2-04, AAP-17.1-06
    async fn at_tier_three_nobody_registers_without_a_receipt_and_below_it_nobody_needs_one(kit) {
        let scene = strict(kit, at_tier(3)).await;
        assert_eq!(register(&scene, &new_key(), &body(&scene)).await.refusal(), told(401, "consent_missing"));
        register(&scene, &new_key(), &consented(&scene)).await.expect(200);
        for tier in [1, 2] {
            let scene = strict(kit, at_tier(tier)).await;
            register(&scene, &new_key(), &body(&scene)).await.expect(200);
            let mut claims = scene.plane.receipt_claims(scene.plane.acme(), "alice", &scene.connected, SCOPES);
            claims["exp"] = json!("tomorrow");
            let bad = with(body(&scene), "consent_receipt", json!(scene.plane.acme().sign_receipt(&claims)));
            let answer = register(&scene, &new_key(), &bad).await;
            assert_eq!(answer.refusal(), told(401, "consent_invalid"), "one that is shown is looked at, at tier {tier}");
        }
    }

    /// AAP-8.1-02
    async fn a_session_goes_on_only_with_everything_that_it_began_with(kit) {
        let scene = strict(kit, at_tier(3)).await;
        let key = new_key();
        let whole = consented(&scene);
        let session = register(&scene, &key, &whole).await.expect(200).json()["session_id"].clone();
        let again = with(whole, "session_id", session.clone());
        let lacking = |member: &str| with(again.clone(), member, Value::Null);
        assert_eq!(register(&scene, &key, &lacking("delegation_token")).await.refusal(), told(403, "tier_not_met"));
        assert_eq!(register(&scene, &key, &lacking("consent_receipt")).await.refusal(), told(401, "consent_missing"));
        assert_eq!(register(&scene, &key, &lacking("operator_jwt")).await.refusal(), told(400, "invalid_request"));
        let renewed = register(&scene, &key, &again).await.expect(200).json();
        assert_eq!(renewed["session_id"], session);
    }

    /// AAP-2-04
    async fn a_route_of_tier_three_opens_to_a_session_with_a_receipt_and_to_no_other(kit) {
        let scene = strict(kit, |document| {
            let notes = document.routes.iter_mut().find(|route| route.id == "notes").unwrap();
            notes.minimum_tier = Some(3);
        })
        .await;
        let note = || GatewayRequest::new("POST", "/notes").json(r#"{"text":"hello"}"#);
        let held = || BankFixture::transfer();
        assert_eq!(scene.sends(note()).await.refusal(), told(403, "tier_not_met"));
        let unbound = scene.plane.post("/agent/register", &body(&scene)).await;
        assert_refused(&unbound, "dpop_missing", "a token that would be bound to nothing");
        assert_eq!(scene.bank.effects().len(), 0);
        assert_eq!(scene.sends(held()).await.refusal(), told(403, "irreversible_requires_confirm"), "the others are as before");
        let consented = scene.with_receipt(|_| {}).await;
        scene.sends_as(&consented, note()).await.expect(201);
        assert_eq!(scene.bank.effects().len(), 1);
    }

    /// AAP-2-04, AAP-15-15, C-25
    async fn from_extended_conformance_on_a_write_needs_a_receipt_unless_its_route_says_less(kit) {
        let scene = strict(kit, extended).await;
        let note = || GatewayRequest::new("POST", "/notes").json(r#"{"text":"hello"}"#);
        for write in [note(), BankFixture::transfer(), note().with("x-agent-dry-run", "true")] {
            assert_eq!(scene.sends(write).await.refusal(), told(403, "tier_not_met"));
        }
        scene.sends(GatewayRequest::new("GET", "/accounts")).await.expect(200);
        assert_eq!(scene.bank.effects().len(), 0, "nothing is forwarded");
        let consented = scene.with_receipt(|_| {}).await;
        scene.sends_as(&consented, note()).await.expect(201);
        let held = scene.sends_as(&consented, BankFixture::transfer()).await;
        assert_eq!(held.refusal(), told(403, "irreversible_requires_confirm"));

        let mut document = (*scene.plane.at().await.project.document).clone();
        document.routes.iter_mut().find(|route| route.id == "notes").unwrap().minimum_tier = Some(2);
        scene.plane.engine.apply_project(document.clone(), "test").await.unwrap();
        scene.sends(note()).await.expect(201);
        assert_eq!(scene.sends(BankFixture::transfer()).await.refusal(), told(403, "tier_not_met"));
        document.conformance.tier = ConformanceTier::Core;
        scene.plane.engine.apply_project(document, "test").await.unwrap();
        let held = scene.sends(BankFixture::transfer()).await;
        assert_eq!(held.refusal(), told(403, "irreversible_requires_confirm"), "core demands none");
        assert_eq!(scene.bank.effects().len(), 2);
    }
}

/// With the parts that the claim demands.
fn extended(document: &mut ProjectDocument) {
    document.conformance.tier = ConformanceTier::Extended;
    document.identity_modes_supported.push("service_account".into());
    let transfers = document.routes.iter_mut().find(|route| route.id == "transfers").unwrap();
    transfers.undo = Some(serde_json::from_value(json!({ "by": "hold" })).unwrap());
    document.scopes.iter_mut().find(|scope| scope.id == "bank.pay").unwrap().undo_window_s = Some(20);
}
