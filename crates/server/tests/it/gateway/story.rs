//! The main job: held, approved, run once; anything else is refused.

use countersign_testkit::{
    bank::{BankFixture, GatewayRequest},
    on_both_stores,
};
use serde_json::json;

on_both_stores! {
    /// AAP-14.1-14, AAP-14.1-16, AAP-23-16, R-2, R-3
    async fn an_irreversible_call_waits_for_an_approval_and_then_runs_exactly_once(kit) {
        let scene = kit.bank().await;
        let held = scene.sends(BankFixture::transfer()).await;
        assert_eq!(held.refusal(), (403, "irreversible_requires_confirm".into()));
        assert_eq!(held.header("precondition"), Some("confirmation"));
        let decision = BankFixture::decision(&held);
        assert!(decision["wait"].as_str().unwrap().contains("/v1/decisions/dec_"));
        assert!(decision["page"].as_str().unwrap().contains("/inbox/bank/dec_"));
        assert_eq!(scene.bank.effects().len(), 0);

        let again = scene.sends(BankFixture::transfer().confirmed("true")).await;
        assert_eq!(BankFixture::decision(&again)["decision_id"], decision["decision_id"]);
        assert_eq!(scene.alice.pending_questions(&scene.plane).await, 1);
        assert_eq!(scene.bank.effects().len(), 0);

        scene.alice.accepts(&scene.plane, &decision).await;
        let ran = scene.sends(BankFixture::transfer().confirmed("true")).await.expect(201);
        assert_eq!(ran.json(), json!({ "from": "bank" }));
        let effects = scene.bank.effects();
        assert_eq!(effects.len(), 1);
        assert_eq!(effects[0].body, BankFixture::transfer().body);
        assert_eq!(effects[0].headers["authorization"], "Bearer the-banks-own-secret");
        assert!(effects[0].headers.contains_key("countersign-identity"));
        assert!(!effects[0].headers.contains_key("dpop"));

        let looked = scene.reads_decision(&scene.agent, &decision).await;
        assert_eq!(looked["execution"]["state"], "committed");
        let repeated = scene.sends(BankFixture::transfer().confirmed("true")).await;
        assert_eq!(repeated.refusal(), (403, "irreversible_requires_confirm".into()));
        assert_eq!(scene.bank.effects().len(), 1);
    }

    /// AAP-7.1-02
    async fn a_read_passes_with_a_token_and_its_proof_and_stands_in_the_audit(kit) {
        let scene = kit.bank().await;
        scene.sends(GatewayRequest::new("GET", "/accounts")).await.expect(200);
        let calls = scene.calls().await;
        assert_eq!(calls.len(), 1, "{calls:?}");
        assert_eq!(calls[0]["outcome"], "200 OK");
    }
}

on_both_stores! {
    /// AAP-16.2-16
    async fn an_unserved_mode_and_a_mode_that_the_session_lacks_have_different_refusals(kit) {
        let scene = kit.bank().await;
        let mut body = scene.plane.register_body(scene.plane.acme(), &scene.connected);
        body["mode"] = json!("service_account");
        let at_register = scene.plane.post("/agent/register", &body).await;
        assert_eq!(at_register.refusal(), (400, "mode_not_supported".into()));

        let mut call = scene.authenticated(&scene.agent, GatewayRequest::new("GET", "/accounts"));
        call.headers.retain(|(name, _)| name != "x-agent-mode");
        let call = scene.sends_raw(call.with("x-agent-mode", "service_account")).await;
        assert_eq!(call.refusal(), (400, "mode_not_supported".into()));
        assert_ne!(at_register.json()["hint"], call.json()["hint"]);
        assert_eq!(scene.bank.got().len(), 0);
    }
}
