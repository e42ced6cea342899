//! The execution window of a receipt (C-83): outside of it nothing runs, and what runs at its end is cut.

use countersign_jose::ProofKey;
use countersign_testkit::{
    bank::{BankFixture, GatewayRequest, Manner},
    deadline::{until, within_deadline},
    on_sqlite,
};
use serde_json::{Value, json};

fn read() -> GatewayRequest {
    GatewayRequest::new("GET", "/accounts")
}

fn consent_expired() -> (u16, String) {
    (401, "consent_expired".into())
}

/// A receipt with this window, in seconds from now, and an `exp` that is later or earlier.
fn windowed(scene: &BankFixture, (earliest, latest): (i64, i64), exp: i64) -> impl FnOnce(&mut Value) + use<> {
    let now = scene.plane.now();
    move |claims| {
        let at = |secs: i64| json!(now.plus_secs(secs).to_rfc3339());
        claims["execution_window"] = json!({ "earliest": at(earliest), "latest": at(latest) });
        claims["exp"] = json!(now.plus_secs(exp).secs());
    }
}

on_sqlite! {
    /// AAP-12.2-09, AAP-G-25, AAP-12.2-01, C-83
    async fn calls_run_from_the_beginning_of_the_window_to_the_earlier_of_its_end_and_exp(kit) {
        for (window, exp) in [((300, 600), 3000), ((300, 3000), 600)] {
            let scene = kit.bank().await;
            for outside in [(301, 600), (-900, -301)] {
                let mut claims = scene.plane.receipt_claims(scene.plane.acme(), "alice", &scene.connected, &["bank.read"]);
                windowed(&scene, outside, 3000)(&mut claims);
                let mut body = scene.plane.register_body(scene.plane.acme(), &scene.connected);
                body["consent_receipt"] = json!(scene.plane.acme().sign_receipt(&claims));
                let refused = scene.plane.try_holder_with(&body, Some(ProofKey::generate().unwrap())).await;
                assert_eq!(refused.refusal(), consent_expired(), "{outside:?}");
            }
            let agent = scene.with_receipt(windowed(&scene, window, exp)).await;
            scene.sends_as(&agent, read()).await.expect(200);
            scene.plane.advance_secs(900).await;
            scene.sends_as(&agent, read()).await.expect(200);
            let reached = scene.bank.got().len();
            scene.plane.advance_secs(1).await;
            assert_eq!(scene.sends_as(&agent, read()).await.refusal(), consent_expired());
            assert_eq!(scene.bank.got().len(), reached);
            scene.sends(read()).await.expect(200);
        }
    }

    /// AAP-12.2-09, C-83, R-20
    async fn a_stream_in_progress_is_cut_at_the_end_of_the_window(kit) {
        let scene = kit.bank().await;
        let agent = scene.with_receipt(windowed(&scene, (0, 600), 3000)).await;
        scene.bank.set_manner(Manner::Events);
        let stream = scene.opens_as(&agent, GatewayRequest::new("GET", "/prices")).await;
        scene.plane.advance_secs(901).await;
        assert_eq!(within_deadline("the end of the stream", stream.read_to_end()).await.status, 200);
        let query = format!("/agent/audit?delegation_id={}&event_type=stream_closed", scene.connected.delegation_id);
        let closed = async || scene.alice.get(&scene.plane, &query).await.expect(200).json()["entries"][0].clone();
        // The caller sees the end before the entry is durable.
        until("the entry of the closed stream", async || !closed().await.is_null()).await;
        let closed = closed().await;
        assert!(closed["outcome"].as_str().unwrap().contains("consent_expired"), "{closed:#}");
    }

    /// AAP-12.2-10
    async fn a_revoked_receipt_aborts_alike_whatever_abort_on_revoke_says(kit) {
        let scene = kit.bank().await;
        let mut seen = Vec::new();
        for said in [None, Some(json!(true)), Some(json!(false)), Some(json!("never")), Some(Value::Null)] {
            let agent = scene.with_receipt(|claims| {
                if let Some(said) = said {
                    claims["abort_on_revoke"] = said;
                }
            }).await;
            scene.sends_as(&agent, read()).await.expect(200);
            let jwt = scene.plane.acme().jwt(scene.plane.service(), scene.plane.now());
            let body = json!({ "session_id": agent.session_id, "operator_jwt": jwt });
            scene.plane.post("/agent/cancel", &body).await.expect(200);
            seen.push(scene.sends_as(&agent, read()).await.refusal());
        }
        assert_eq!(seen, vec![(401, "access_token_invalid".to_owned()); 5]);
    }
}
