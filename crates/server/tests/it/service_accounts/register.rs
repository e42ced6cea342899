//! Registration in the mode `service_account`.

use super::desk::{Desk, claims, session_id};
use countersign_testkit::{Connected, on_both_stores, on_sqlite};
use serde_json::json;

on_both_stores! {
    /// AAP-11.1-04, AAP-17.1-12, AAP-11.3-04, AAP-5.2-04
    async fn a_body_of_mode_operator_and_token_is_enough_under_either_name(kit) {
        let desk = Desk::open_with(kit, |document| { document.credential_ttl = 900; document.max_agent_ttl = 300; }).await;
        let account = desk.grant(|_| {}).await;
        let plain = desk.registers(&account, |_| {}).await.expect(200).json();
        assert!(plain["session_id"].as_str().unwrap().starts_with("sess_"));
        assert_eq!((&plain["expires_in"], &plain["delegation_id"]), (&json!(900), &json!(account.grant)));
        let own = session_id(1);
        let alias = desk.registers(&account, |body| {
            body["svc_delegation"] = body["delegation_token"].take();
            body.as_object_mut().unwrap().remove("delegation_token");
            body["session_id"] = json!(own);
        });
        assert_eq!(alias.await.expect(200).json()["session_id"], json!(own));
        let neither = desk.registers(&account, |body| drop(body.as_object_mut().unwrap().remove("delegation_token"))).await;
        assert_eq!(neither.refusal(), (400, "invalid_request".into()));
    }

    /// AAP-11.1-04
    async fn every_echo_must_be_the_tokens(kit) {
        let desk = Desk::open(kit).await;
        let account = desk.grant(|_| {}).await;
        let granted = json!({
            "description": "The shared account of the front desk", "resources": ["account:a1"],
            "scopes": ["bank.read", "bank.note"], "crosses_users": false,
        });
        let right = [
            ("operator", json!("acme.test")), ("account_id", json!("svc_acme_prod")), ("org_id", json!("org_bank")),
            ("authorized_by", json!("ada@bank.test")), ("granted_scope", granted),
            ("delegation_id", json!(account.grant)),
        ];
        let all = desk.registers(&account, |body| right.iter().for_each(|(name, value)| body[*name] = value.clone()));
        all.await.expect(200);
        for (name, value) in right {
            let other = if value.is_object() { json!({ "description": "all" }) } else { json!("other") };
            let answer = desk.registers(&account, |body| body[name] = other).await;
            assert_eq!(answer.refusal(), (401, "delegation_mismatch".into()), "{name}");
        }
    }
}

on_sqlite! {
    /// AAP-11.3-01, AAP-11.3-03, AAP-19.5-01, AAP-11.7-04
    async fn a_token_of_another_kind_form_or_operator_registers_nothing(kit) {
        let desk = Desk::open(kit).await;
        let account = desk.grant(|_| {}).await;
        let users = desk.scene.connected.delegation_token.clone();
        let answer = desk.registers(&account, |body| body["delegation_token"] = json!(users)).await;
        assert_eq!(answer.refusal(), (401, "delegation_mismatch".into()), "a person's token in mode B");
        let answer = desk.registers(&account, |body| body["mode"] = json!("user_delegated")).await;
        assert_eq!(answer.refusal(), (401, "delegation_mismatch".into()), "an account's token in mode A");

        let claims = claims(&account.token);
        let plane = &desk.scene.plane;
        for name in ["iss", "sub", "delegated_to", "authorized_by", "org_id", "granted_scope", "iat", "exp"] {
            let mut lacking = claims.clone();
            lacking.as_object_mut().unwrap().remove(name);
            let token = plane.sign_delegation(&lacking).await;
            let answer = desk.registers(&account, |body| body["delegation_token"] = json!(token)).await;
            assert_eq!(answer.refusal(), (401, "delegation_invalid".into()), "without {name}");
        }
        let mut wider = claims.clone();
        wider["granted_scope"]["resources"] = json!(["account:*"]);
        let token = plane.sign_delegation(&wider).await;
        let answer = desk.registers(&account, |body| body["delegation_token"] = json!(token)).await;
        assert_eq!(answer.refusal(), (401, "delegation_not_found".into()), "no grant says this");
    }

    /// AAP-11.7-04, AAP-19.3-06, AAP-G-38
    async fn a_receipt_is_optional_and_must_come_from_the_bootstrap(kit) {
        let desk = Desk::open(kit).await;
        let account = desk.grant(|_| {}).await;
        let plane = &desk.scene.plane;
        let receipt = |change: &dyn Fn(&mut serde_json::Value)| {
            let connected = Connected { delegation_id: account.grant.clone(), delegation_token: String::new() };
            let mut claims = plane.receipt_claims(plane.acme(), "svc_acme_prod", &connected, &["bank.read"]);
            claims["consent_method"] = json!("admin_bootstrap");
            change(&mut claims);
            plane.acme().sign_receipt(&claims)
        };
        let sent = async |receipt: String| desk.registers(&account, |body| body["consent_receipt"] = json!(receipt)).await;
        let by_ui = sent(receipt(&|claims| claims["consent_method"] = json!("explicit_ui"))).await;
        assert_eq!(by_ui.refusal(), (401, "consent_invalid".into()));
        let other = sent(receipt(&|claims| claims["consent_method"] = json!("word_of_mouth"))).await;
        assert_eq!(other.refusal(), (401, "consent_invalid".into()));
        let whose = sent(receipt(&|claims| claims["sub"] = json!("alice"))).await;
        assert_eq!(whose.refusal(), (401, "delegation_mismatch".into()));
        let which = sent(receipt(&|claims| claims["delegation_id"] = json!("del_another1"))).await;
        assert_eq!(which.refusal(), (401, "delegation_mismatch".into()));
        let registered = sent(receipt(&|_| {})).await.expect(200).json();
        assert_eq!(registered["session_id"], claims(&receipt(&|_| {}))["session_id"]);
        // The receipt narrows the grant for its session.
        let session = desk.session_in(&account, registered["session_id"].as_str()).await;
        desk.calls(&session, "GET", "/accounts/a1").await.expect(200);
        // A grant is fixed: nobody is asked to expand it, and no project does so silently (AAP 11).
        for mode in ["reject", "notify", "silent"] {
            desk.change(|document| document.scope_expansion = mode.into()).await;
            let beyond = desk.calls(&session, "POST", "/notes").await;
            assert_eq!(beyond.refusal(), (403, "consent_scope_exceeded".into()), "{mode}");
            assert_eq!(beyond.json()["scope_request"], serde_json::Value::Null, "{mode}");
        }

        desk.change(|document| document.minimum_tier = 3).await;
        let key = || Some(countersign_jose::ProofKey::generate().unwrap());
        let users = plane.register_body(plane.acme(), &desk.scene.connected);
        let refused = plane.try_holder_with(&users, key()).await;
        assert_eq!(refused.refusal(), (401, "consent_missing".into()));
        plane.try_holder_with(&desk.register_body(&account), key()).await.expect(200);
    }
}
