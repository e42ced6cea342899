//! Revocation: by admins and the own operator, never by users.

use super::desk::{ADA, Desk};
use countersign_testkit::{on_both_stores, on_sqlite};
use serde_json::json;

on_both_stores! {
    /// AAP-11.2-05, AAP-11.3-04, AAP-G-42
    async fn an_admin_ends_every_session_of_an_account_by_either_id(kit) {
        let desk = Desk::open(kit).await;
        for by_account in [true, false] {
            let account = desk.grant(|body| body["account_id"] = json!(format!("svc_by_account_{by_account}"))).await;
            let (one, two) = (desk.session(&account).await, desk.session(&account).await);
            desk.calls(&one, "GET", "/accounts/a1").await.expect(200);
            let body = match by_account {
                true => json!({ "account_id": account.id }),
                false => json!({ "delegation_id": account.grant }),
            };
            let revoked = desk.revokes(body).await.expect(200).json();
            assert_eq!(revoked["delegation_id"], json!(account.grant));
            for session in [&one, &two] {
                let answer = desk.calls(session, "GET", "/accounts/a1").await;
                assert_eq!(answer.refusal(), (401, "delegation_revoked".into()));
            }
            let again = desk.registers(&account, |_| {}).await;
            assert_eq!(again.refusal(), (401, "delegation_revoked".into()));
        }
    }
}

on_sqlite! {
    /// AAP-G-42, AAP-17.3-06
    async fn no_user_and_no_other_operator_can_revoke_it(kit) {
        let desk = Desk::open(kit).await;
        let account = desk.grant(|_| {}).await;
        let session = desk.session(&account).await;
        let plane = &desk.scene.plane;
        for body in [json!({ "account_id": account.id }), json!({ "delegation_id": account.grant })] {
            let unknown = desk.scene.alice.post(plane, "/agent/revoke", &json!({ "account_id": "svc_unknown" })).await;
            let by_user = desk.scene.alice.post(plane, "/agent/revoke", &body).await;
            assert_eq!(by_user.refusal(), (401, "delegation_not_found".into()));
            assert_eq!(by_user.refusal(), unknown.refusal());
            assert_eq!(plane.post("/agent/revoke", &body).await.status, 401, "no credentials");
        }
        desk.calls(&session, "GET", "/accounts/a1").await.expect(200);
        let jwt = plane.acme().jwt(plane.service(), plane.now());
        let body = json!({ "account_id": account.id, "operator_jwt": jwt });
        plane.post("/agent/revoke", &body).await.expect(200);
        let refused = desk.calls(&session, "GET", "/accounts/a1").await;
        assert_eq!(refused.refusal(), (401, "delegation_revoked".into()));
    }

    /// AAP-G-42, AAP-17.3-06
    async fn an_operator_ends_its_own_grants_of_an_account_and_nobody_elses(kit) {
        let desk = Desk::open(kit).await;
        let plane = &desk.scene.plane;
        let engine = &plane.engine;
        let own = desk.grant(|_| {}).await;
        let project = plane.at().await.project;
        let other = countersign_protocol::domain::Domain::parse("evil.test").unwrap();
        let proposed = serde_json::from_value(Desk::proposal("")).unwrap();
        let reviewed = engine.agents().review_account(&project, ADA, &other, &proposed, "en").await.unwrap();
        let shown = ("en", reviewed.digest, reviewed.shown_at);
        let (foreign, _) = engine.agents().create_account(&project, ADA, &other, &proposed, shown).await.unwrap();
        let jwt = plane.acme().jwt(plane.service(), plane.now());
        let body = json!({ "account_id": own.id, "operator_jwt": jwt });
        for _ in 0..2 {
            let revoked = plane.post("/agent/revoke", &body).await.expect(200).json();
            assert_eq!(revoked["delegation_id"], json!(own.grant));
        }
        let grants = engine.agents().service_accounts(project.key).await.unwrap();
        let ended: Vec<_> = grants.iter().filter(|grant| grant.is_ended()).map(|grant| grant.id.as_str()).collect();
        assert_eq!(ended, [own.grant.as_str()]);
        assert!(grants.iter().any(|grant| grant.id == foreign.id));
    }

    ///
    async fn a_grant_by_command_names_the_admin_and_claims_no_proof_of_them(kit) {
        let desk = Desk::open(kit).await;
        let engine = &desk.scene.plane.engine;
        let project = desk.scene.plane.at().await.project;
        let operator = countersign_protocol::domain::Domain::parse("acme.test").unwrap();
        let proposed = serde_json::from_value(Desk::proposal("")).unwrap();
        let reviewed = engine.agents().review_account(&project, ADA, &operator, &proposed, "en").await.unwrap();
        let shown = ("en", reviewed.digest, reviewed.shown_at);
        let (grant, _) = engine.agents().create_account(&project, ADA, &operator, &proposed, shown).await.unwrap();
        engine.agents().revoke_service_account(&project, &grant.id).await.unwrap();
        let proven = desk.grant(|_| {}).await;
        let by = async |event: &str, id: &str| {
            let found = desk.entries(&format!("event_type={event}&delegation_id={id}")).await;
            found[0]["by"].as_str().unwrap().to_owned()
        };
        assert_eq!(by("delegation_granted", &grant.id).await, "service");
        assert_eq!(by("delegation_revoked", &grant.id).await, "service");
        assert_eq!(by("delegation_granted", &proven.grant).await, "admin");
    }

    /// AAP-11.2-05
    async fn the_command_line_lists_and_revokes_by_account(kit) {
        let desk = Desk::open(kit).await;
        let account = desk.grant(|_| {}).await;
        let wide = desk.grant(|body| body["granted_scope"]["resources"] = json!(["account:a2"])).await;
        let engine = &desk.scene.plane.engine;
        let id = countersign_protocol::ids::ProjectId::parse("bank").unwrap();
        let project = engine.find_project(&id).await.unwrap().unwrap();
        assert_eq!(engine.agents().service_accounts(project.key).await.unwrap().len(), 2);
        let ended = engine.agents().revoke_service_account(&project, &account.id).await.unwrap();
        assert_eq!(ended.iter().map(|grant| grant.id.clone()).collect::<Vec<_>>(), [account.grant, wide.grant]);
        assert!(ended.iter().all(countersign_engine::Delegation::is_ended));
    }
}
