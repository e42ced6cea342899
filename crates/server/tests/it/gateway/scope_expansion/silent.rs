//! `silent`: only where the project says so, never beyond the delegation, and always visible.

use super::*;
use countersign_testkit::{bank::SCOPES, on_both_stores, on_sqlite};

on_both_stores! {
    /// AAP-G-50, C-64, AAP-12.3-02
    async fn a_call_within_the_delegation_passes_and_the_expansion_is_shown(kit) {
        let scene = kit.bank_with(expanding("silent")).await;
        let agent = reader(&scene).await;
        assert_eq!(summary(&scene, &scene.alice).await, Vec::<Value>::new());
        scene.sends_as(&agent, note()).await.expect(201);
        scene.sends_as(&agent, note()).await.expect(201);
        assert_eq!((pending(&scene).await, polls(&scene, &agent).await["status"].clone()), (0, json!("none")));
        let entries = entries(&scene).await;
        assert_eq!(entries.len(), 1, "one a scope and task");
        let entry = &entries[0];
        assert_eq!((&entry["outcome"], &entry["scopes"], &entry["by"]), (&json!("silent"), &json!(["bank.note"]), &json!("service")));
        assert_eq!((&entry["session_id"], &entry["acting_for"]), (&json!(agent.session_id), &json!("alice")));
        assert!(scene.calls().await.iter().all(|call| call["expanded_scope"] == "bank.note"));
        let shown = summary(&scene, &scene.alice).await;
        assert_eq!((shown.len(), &shown[0]["by"], &shown[0]["scope"]), (1, &json!("silent"), &json!("bank.note")));
        let own = scene.requests(&agent, Method::GET, "/agent/access-summary").await.expect(200).json();
        assert_eq!(own["delegations"][0]["scope_expansions"].as_array().unwrap().len(), 1);
    }
}

on_sqlite! {
    /// AAP-G-50
    async fn beyond_the_delegation_a_call_is_refused_and_so_is_an_exclusion(kit) {
        let scene = kit
            .bank_with(|document| {
                document.scope_expansion = "silent".into();
                document.scopes[1].explicitly_excludes = vec!["pings.send".into()];
            })
            .await;
        let narrow = scene.plane.connect(&scene.alice, scene.plane.acme(), &["bank.read", "bank.note", "bank.ping"]).await;
        let mut claims = scene.plane.receipt_claims(scene.plane.acme(), "alice", &narrow, &["bank.read"]);
        claims["intent_type"] = json!("PAY");
        let receipt = scene.plane.acme().sign_receipt(&claims);
        let agent = scene.plane.holder(&narrow, |body| body["consent_receipt"] = json!(receipt)).await;
        let ping = GatewayRequest::new("POST", "/pings").json("{}").confirmed("true");
        for sent in [payee(), BankFixture::transfer(), ping] {
            assert_eq!(scene.sends_as(&agent, sent).await.refusal(), (403, "scope_not_granted".into()));
        }
        assert_eq!((scene.bank.got().len(), summary(&scene, &scene.alice).await.len()), (0, 0));
        scene.sends_as(&agent, note()).await.expect(201);
    }

    ///
    async fn an_irreversible_call_is_still_held(kit) {
        let scene = kit.bank_with(expanding("silent")).await;
        let agent = reader(&scene).await;
        for sent in [payee(), BankFixture::transfer()] {
            assert_eq!(scene.sends_as(&agent, sent).await.refusal(), (403, "irreversible_requires_confirm".into()));
        }
        assert_eq!((scene.bank.got().len(), pending(&scene).await), (0, 2));
    }

    /// AAP-G-51, AAP-G-48
    async fn a_project_that_stops_expanding_honours_no_silent_expansion_and_one_that_rejects_none_at_all(kit) {
        let scene = kit.bank_with(expanding("silent")).await;
        let agent = reader(&scene).await;
        scene.sends_as(&agent, note()).await.expect(201);
        changes(&scene, expanding("notify")).await;
        let asked = asks(&scene, &agent, note()).await;
        assert_eq!(summary(&scene, &scene.alice).await.len(), 0);
        scene.alice.accepts(&scene.plane, &asked).await;
        scene.sends_as(&agent, note()).await.expect(201);
        let other = asks(&scene, &agent, payee()).await;
        changes(&scene, expanding("reject")).await;
        assert_eq!(scene.sends_as(&agent, note()).await.refusal(), exceeded());
        assert!(scene.alice.tries(&scene.plane, &other, true).await.is_some(), "nothing is left to approve");
        assert_eq!((polls(&scene, &agent).await["status"].clone(), summary(&scene, &scene.alice).await.len()), (json!("none"), 0));
    }

    async fn a_receipt_with_every_scope_is_never_expanded(kit) {
        let scene = kit.bank_with(expanding("silent")).await;
        let agent = scene.with_receipt(|claims| claims["scopes"] = json!(SCOPES)).await;
        scene.sends_as(&agent, note()).await.expect(201);
        scene.sends(note()).await.expect(201);
        assert_eq!((recorded(&scene).await.len(), summary(&scene, &scene.alice).await.len()), (0, 0));
        assert!(scene.calls().await.iter().all(|call| call["expanded_scope"] == Value::Null));
    }
}
