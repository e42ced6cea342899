//! What a person or a service gave to one operator is of no use to another (AAP 12.1).

use super::proofs::{EPOCH_OVER_S, without_nonces};
use crate::register::support::{told, with};
use countersign_jose::ProofKey;
use countersign_testkit::{
    Setup,
    bank::{Bank, BankFixture, GATEWAY, GatewayRequest, Holder, SCOPES},
    on_sqlite,
};
use serde_json::{Value, json};

const OTHER: &str = "other.test";

fn read() -> GatewayRequest {
    GatewayRequest::new("GET", "/accounts")
}

/// A call with a token, a scheme, and a proof of the other operator's key.
fn with_token(scene: &BankFixture, thief: &Holder, named: &Holder, token: &str, scheme: &str) -> GatewayRequest {
    let url = format!("{GATEWAY}/accounts");
    let jti = format!("{scheme}-{}-{}", token.len(), named.delegation_id);
    let key = thief.key.as_ref().unwrap();
    let proof = key.proof("GET", &url, Some(token), None, &jti, scene.plane.now()).unwrap();
    read()
        .with("aap-version", "2.0")
        .of_session(named)
        .with("x-agent-intent-type", "READ_ACCOUNTS")
        .with("authorization", &format!("{scheme} {token}"))
        .with("dpop", &proof)
}

on_sqlite! {
    /// AAP-12.1-01
    async fn nothing_that_one_operator_was_given_serves_another(kit) {
        let bank = Bank::open().await;
        let setup = Setup { operators: vec!["acme.test", OTHER], ..Setup::bank(&bank, without_nonces) };
        let scene = BankFixture::on(kit.plane_with(setup).await, bank).await;
        scene.plane.advance_secs(EPOCH_OVER_S).await;
        let (plane, other) = (&scene.plane, scene.plane.operator(OTHER));
        let agent = scene.with_receipt(|_| {}).await;
        scene.sends_as(&agent, read()).await.expect(200);

        let of_acme = plane.register_body(other, &scene.connected);
        assert_eq!(plane.post("/agent/register", &of_acme).await.refusal(), told(401, "delegation_mismatch"));

        let own = plane.connect(&scene.alice, other, SCOPES).await;
        let own_body = plane.register_body(other, &own);
        for issuer in ["acme.test", OTHER] {
            let mut claims = plane.receipt_claims(plane.acme(), "alice", &own, SCOPES);
            claims["iss"] = json!(issuer);
            let body = with(own_body.clone(), "consent_receipt", json!(plane.acme().sign_receipt(&claims)));
            let refused = plane.post("/agent/register", &body).await;
            assert_eq!(refused.refusal(), told(401, "consent_invalid"), "signed by acme in the name of {issuer}");
        }

        // The same session id is a session of its own.
        let named = with(own_body, "session_id", json!(agent.session_id));
        let thief = plane.holder_with(&named, Some(ProofKey::generate().unwrap()), &own).await;
        assert_eq!(thief.session_id, agent.session_id);
        let query = format!("session_id={}", agent.session_id);
        let seen = plane.audit(other, &query).await.expect(200).json();
        let of_own = |entry: &Value| entry["delegation_id"] == own.delegation_id.as_str() && entry["operator"] == OTHER;
        assert!(seen["entries"].as_array().unwrap().iter().all(of_own), "{seen:#}");
        assert_eq!(seen["total_count"], 1, "its own start: {seen:#}");
        let acmes = format!("delegation_id={}", scene.connected.delegation_id);
        assert_eq!(plane.audit(other, &acmes).await.refusal(), told(401, "delegation_not_found"));

        let forwarded = scene.bank.got().len();
        for (scheme, code) in [("DPoP", "dpop_invalid"), ("Bearer", "dpop_missing")] {
            for named in [&agent, &thief] {
                let sent = with_token(&scene, &thief, named, &agent.access_token, scheme);
                assert_eq!(scene.sends_raw(sent).await.refusal(), told(401, code), "acme's token as {scheme}");
            }
        }
        let sent = with_token(&scene, &thief, &agent, &thief.access_token, "DPoP");
        assert_eq!(scene.sends_raw(sent).await.refusal(), told(401, "delegation_mismatch"), "acme's delegation named");
        assert_eq!(scene.bank.got().len(), forwarded, "none was forwarded");

        // And its end is not the end of acme's.
        let jwt = other.jwt(plane.service(), plane.now());
        let cancel = json!({ "session_id": agent.session_id, "operator_jwt": jwt });
        plane.post("/agent/cancel", &cancel).await.expect(200);
        assert!(!scene.sends_as(&thief, read()).await.is_success());
        scene.sends_as(&agent, read()).await.expect(200);
    }
}
