//! Permissions of a receipt and a delegation at the gateway.

use countersign_testkit::{
    Setup,
    bank::{Bank, BankFixture, GatewayRequest, SCOPES},
    leaks::Haystack,
    on_sqlite,
};
use serde_json::json;

on_sqlite! {
    /// AAP-16.2-10
    async fn a_call_outside_the_receipt_is_refused_although_the_delegation_would_allow_it(kit) {
        let scene = kit.bank_with(|document| document.scope_expansion = "reject".into()).await;
        let agent = scene.with_receipt(|claims| claims["scopes"] = json!(["bank.read"])).await;
        for sent in [note(), BankFixture::transfer(), GatewayRequest::new("DELETE", "/payees/theirs")] {
            assert_eq!(scene.sends_as(&agent, sent).await.refusal(), (403, "consent_scope_exceeded".into()));
        }
        assert_eq!((scene.bank.got().len(), scene.alice.pending_questions(&scene.plane).await), (0, 0));
        scene.sends_as(&agent, GatewayRequest::new("GET", "/accounts")).await.expect(200);
        scene.sends(note()).await.expect(201);
    }

    /// AAP-16.2-12
    async fn a_call_outside_the_delegation_is_refused_and_nobody_is_asked(kit) {
        let scene = kit.bank().await;
        let narrow = scene.plane.connect(&scene.alice, scene.plane.acme(), &["bank.read"]).await;
        let agent = scene.plane.holder(&narrow, |_| {}).await;
        for sent in [note(), BankFixture::transfer(), GatewayRequest::new("DELETE", "/payees/theirs")] {
            assert_eq!(scene.sends_as(&agent, sent).await.refusal(), (403, "scope_not_granted".into()));
        }
        assert_eq!((scene.bank.got().len(), scene.alice.pending_questions(&scene.plane).await), (0, 0));
        scene.sends_as(&agent, GatewayRequest::new("GET", "/accounts")).await.expect(200);
        let mut claims = scene.plane.receipt_claims(scene.plane.acme(), "alice", &narrow, SCOPES);
        claims["intent_type"] = json!("PAY");
        let mut wide = scene.plane.register_body(scene.plane.acme(), &narrow);
        wide["consent_receipt"] = json!(scene.plane.acme().sign_receipt(&claims));
        let answer = scene.plane.post("/agent/register", &wide).await;
        assert_eq!(answer.refusal(), (403, "scope_not_granted".into()), "a receipt narrows and never widens");
    }

    /// AAP-7-09, C-82
    async fn a_receipt_need_not_be_sent_along_but_if_it_is_it_is_the_registered_one(kit) {
        let bank = Bank::open().await;
        let (plane, _folder) = kit.lasting_plane(Setup::bank(&bank, |_| {})).await;
        let scene = BankFixture::on(plane, bank).await;
        let acme = scene.plane.acme();
        let claims = scene.plane.receipt_claims(acme, "alice", &scene.connected, SCOPES);
        let receipt = acme.sign_receipt(&claims);
        let agent = scene.another(|body| body["consent_receipt"] = json!(receipt)).await;
        let mut longer = claims.clone();
        longer["exp"] = json!(claims["exp"].as_i64().unwrap() + 1);
        let other = acme.sign_receipt(&longer);
        let read = || GatewayRequest::new("GET", "/accounts");
        scene.sends_as(&agent, read()).await.expect(200);
        scene.sends_as(&agent, read().with("x-agent-consent", &receipt)).await.expect(200);
        for wrong in [other.as_str(), "not.a.receipt", &receipt[1..], ""] {
            let answer = scene.sends_as(&agent, read().with("x-agent-consent", wrong)).await;
            assert_eq!(answer.refusal(), (401, "consent_invalid".into()), "{wrong:?}");
        }
        let without = scene.sends(read().with("x-agent-consent", &receipt)).await;
        assert_eq!(without.refusal(), (401, "consent_invalid".into()), "it is another session's");
        assert_eq!(scene.bank.got().len(), 2);
        assert!(scene.bank.got().iter().all(|got| !got.headers.contains_key("x-agent-consent")));
        let stored = Haystack::stored(&scene.plane.place).await;
        stored.assert_present("the session", &agent.session_id);
        stored.assert_absent("the receipt", receipt.as_bytes());
        stored.assert_absent("its signature", receipt.rsplit('.').next().unwrap());
    }
}

fn note() -> GatewayRequest {
    GatewayRequest::new("POST", "/notes").json(r#"{"note":"hello"}"#)
}
