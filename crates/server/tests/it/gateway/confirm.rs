//! Calls that need confirmation, the refusal of a call without approval, and the effect of the header alone (C-01, C-02).

use super::held::*;
use countersign_protocol::project::{Confirmed, ProjectDocument, Scope};
use countersign_testkit::{
    bank::{BankFixture, GatewayRequest},
    on_sqlite,
};
use serde_json::json;

fn scope<'a>(document: &'a mut ProjectDocument, id: &str) -> &'a mut Scope {
    document.scopes.iter_mut().find(|scope| scope.id == id).unwrap()
}

fn note() -> GatewayRequest {
    GatewayRequest::new("POST", "/notes").json(r#"{"text":"remember"}"#)
}

fn ping() -> GatewayRequest {
    GatewayRequest::new("POST", "/pings").json("{}")
}

on_sqlite! {
    /// AAP-14.1-10
    async fn either_flag_of_a_scope_stands_in_the_manifest_and_holds_its_writes(kit) {
        let plain = kit.bank().await;
        plain.sends(note()).await.expect(201);

        let scene = kit.bank_with(|document| scope(document, "bank.note").requires_confirmation = true).await;
        let manifest = scene.plane.get("/.well-known/agent-auth.json").await.expect(200).json();
        let flags = |id: &str| {
            let scopes = manifest["scopes"].as_array().unwrap();
            let scope = scopes.iter().find(|scope| scope["id"] == id).unwrap();
            (scope["irreversible"] == true, scope["requires_confirmation"] == true)
        };
        assert_eq!(flags("bank.payees"), (true, false));
        assert_eq!(flags("bank.note"), (false, true));
        assert_eq!(flags("bank.read"), (false, false));
        for (before, sent) in [note(), GatewayRequest::new("DELETE", "/payees/theirs")].into_iter().enumerate() {
            let decision = asked(&scene, sent.clone()).await;
            assert_eq!(scene.bank.effects().len(), before, "{sent:?}");
            scene.alice.accepts(&scene.plane, &decision).await;
            assert!(scene.sends(sent.confirmed("true")).await.is_success());
            assert_eq!(scene.bank.effects().len(), before + 1);
        }
    }

    /// AAP-14.1-11, AAP-16.2-23
    async fn without_an_approval_it_is_403_with_its_precondition_and_428_only_by_the_projects_switch(kit) {
        let scene = kit.bank().await;
        for sent in [BankFixture::transfer(), confirmed_transfer(), BankFixture::transfer().confirmed("dec_1.cft_2")] {
            let held = scene.sends(sent).await;
            assert_eq!(held.refusal(), unconfirmed());
            assert_eq!(held.header("precondition"), Some("confirmation"));
        }
        let scene = kit.bank_with(|document| document.confirmation_status = 428).await;
        for sent in [BankFixture::transfer(), confirmed_transfer(), BankFixture::transfer().confirmed("dec_1.cft_2")] {
            let held = scene.sends(sent).await;
            assert_eq!(held.refusal(), (428, "irreversible_requires_confirm".into()));
            assert_eq!(held.header("precondition"), Some("confirmation"));
        }
        let decision = BankFixture::decision(&scene.sends(BankFixture::transfer()).await);
        assert_eq!(scene.bank.effects().len(), 0);
        scene.alice.accepts(&scene.plane, &decision).await;
        scene.sends(confirmed_transfer()).await.expect(201);
    }

    /// AAP-14.1-14, AAP-16.2-23
    async fn the_word_true_only_looks_for_an_approval_of_this_request_in_this_session(kit) {
        let scene = kit.bank().await;
        let first = asked(&scene, confirmed_transfer()).await;
        let again = asked(&scene, confirmed_transfer()).await;
        assert_eq!(id(&again), id(&first));
        scene.alice.accepts(&scene.plane, &first).await;

        let other = scene.another(|_| {}).await;
        let held = scene.sends_as(&other, confirmed_transfer()).await;
        assert_eq!(held.refusal(), unconfirmed());
        assert_ne!(id(&BankFixture::decision(&held)), id(&first), "the yes of another session");
        asked(&scene, BankFixture::transfer_of("82000.01").confirmed("true")).await;
        for word in ["TRUE", "True", "yes", "1", "false"] {
            assert_eq!(scene.sends(BankFixture::transfer().confirmed(word)).await.refusal(), unconfirmed(), "{word}");
        }
        assert_eq!(scene.bank.effects().len(), 0);

        scene.sends(confirmed_transfer()).await.expect(201);
        let spent = scene.reads_decision(&scene.agent, &first).await;
        assert_eq!(spent["allowance"]["state"], "spent");
        asked(&scene, confirmed_transfer()).await;
        assert_eq!(scene.bank.effects().len(), 1);
    }

    /// AAP-14.1-14
    async fn a_request_that_names_no_approval_does_not_claim_it(kit) {
        let scene = kit.bank().await;
        let decision = scene.approved(BankFixture::transfer()).await;
        let told = asked(&scene, BankFixture::transfer()).await;
        assert_eq!((id(&told), &told["state"]), (id(&decision), &json!("accepted")));
        assert_eq!(scene.bank.effects().len(), 0);
        let confirm = told["confirm_token"].as_str().expect("what names the yes").to_owned();
        scene.sends(BankFixture::transfer().confirmed(&confirm)).await.expect(201);
    }

    /// AAP-14.1-15
    async fn the_agents_own_word_is_enough_only_for_a_scope_that_says_so_and_the_audit_records_it(kit) {
        let told = json!({ "id": "a.b", "description": "a", "allows": ["a"], "intent_types": ["A"] });
        assert_eq!(serde_json::from_value::<Scope>(told).unwrap().confirmation, Confirmed::Decision);
        let default = kit.bank_with(|document| scope(document, "bank.ping").confirmation = Confirmed::default()).await;
        asked(&default, ping().confirmed("true")).await;
        assert_eq!((default.bank.effects().len(), default.alice.pending_questions(&default.plane).await), (0, 1));

        let scene = kit.bank().await;
        for sent in [ping(), ping().confirmed("TRUE"), ping().confirmed("dec_1.cft_2")] {
            let refused = scene.sends(sent).await;
            assert_eq!(refused.refusal(), unconfirmed());
            assert_eq!(refused.header("precondition"), Some("confirmation"));
        }
        assert_eq!(scene.bank.effects().len(), 0);
        scene.sends(ping().confirmed("true")).await.expect(201);
        assert_eq!((scene.bank.effects().len(), scene.alice.pending_questions(&scene.plane).await), (1, 0));
        let calls = scene.calls().await;
        let ran = calls.iter().find(|call| call["outcome"] == "201 Created").expect("its entry");
        assert_eq!(ran["confirmation"], "self_asserted");
        asked(&scene, confirmed_transfer()).await;
        scene.sends(note()).await.expect(201);
        let calls = scene.calls().await;
        assert_eq!(calls.iter().filter(|call| call.get("confirmation").is_some()).count(), 1, "{calls:?}");
    }

    /// AAP-14.1-16
    async fn the_refusal_names_the_approvers_and_the_next_request_and_asks_once(kit) {
        let scene = kit.bank().await;
        let held = scene.sends(BankFixture::transfer()).await;
        let decision = BankFixture::decision(&held);
        assert!(held.json()["hint"].as_str().unwrap().contains("X-Agent-Confirm: true"));
        let wait = decision["wait"].as_str().unwrap().strip_prefix(scene.plane.service()).unwrap();
        assert!(wait.starts_with(&format!("/v1/decisions/{}?wait=", id(&decision))), "{wait}");
        let wait = wait.replace("=55", "=0");
        let waited = scene.requests(&scene.agent, http::Method::GET, &wait).await.expect(200).json();
        assert_eq!((&waited["state"], &waited["decision_id"]), (&json!("pending"), &decision["decision_id"]));
        let page = decision["page"].as_str().unwrap().strip_prefix(scene.plane.service()).unwrap();
        let page = scene.alice.get(&scene.plane, page).await.expect(200).text();
        assert!(page.contains("82000.00"), "{page}");
        assert_eq!(decision["deadline"], waited["deadline"]);

        for sent in [BankFixture::transfer(), confirmed_transfer()] {
            let again = BankFixture::decision(&scene.sends(sent).await);
            assert_eq!(again, decision);
        }
        assert_eq!(scene.alice.pending_questions(&scene.plane).await, 1);
        scene.alice.accepts(&scene.plane, &decision).await;
        let confirm = token(&scene, &decision).await;
        scene.sends(BankFixture::transfer().confirmed(&confirm)).await.expect(201);
    }

    /// AAP-23-16, AAP-16.2-23
    async fn a_destructive_call_without_a_confirmation_is_refused_on_every_tier(kit) {
        for minimum_tier in [1, 2, 3] {
            let payees = |document: &mut ProjectDocument| {
                let route = document.routes.iter_mut().find(|route| route.id == "payees").unwrap();
                route.minimum_tier = Some(minimum_tier);
            };
            let scene = kit.bank_with(payees).await;
            let consented = scene.with_receipt(|claims| claims["intent_type"] = json!("TIDY")).await;
            let sessions = if minimum_tier < 3 { vec![&scene.agent, &consented] } else { vec![&consented] };
            for session in sessions {
                let held = scene.sends_as(session, GatewayRequest::new("DELETE", "/payees/theirs")).await;
                assert_eq!(held.refusal(), unconfirmed(), "{minimum_tier}");
            }
            assert_eq!(scene.bank.effects().len(), 0);
        }
    }
}
