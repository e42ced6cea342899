//! The grant: shown in full, confirmed by an admin, and fixed from then on.

use super::desk::{ADA, Desk, claims};
use countersign_testkit::{on_both_stores, on_sqlite};
use serde_json::{Value, json};

on_both_stores! {
    /// AAP-11.2-01, AAP-11.2-02, AAP-11.2-03, AAP-11.3-03, AAP-11.3-04, AAP-19.5-01, AAP-19.5-02, AAP-19.5-03,
    /// AAP-19.5-06, AAP-11.5-04, AAP-17.2-04
    async fn an_admin_sees_everything_and_the_token_says_exactly_that(kit) {
        let desk = Desk::open(kit).await;
        let plane = &desk.scene.plane;
        let request_id = desk.request(&["bank.read", "bank.note"]).await;
        let mut body = Desk::proposal(&request_id);
        let shown = desk.ada.post(plane, "/agent/delegate", &body).await.expect(200).json();
        let granted = json!({
            "description": "The shared account of the front desk", "resources": ["account:a1"],
            "scopes": ["bank.read", "bank.note"], "crosses_users": false,
        });
        assert_eq!(shown["granted_scope"], granted);
        assert_eq!((&shown["operator"], &shown["authorized_by"]), (&json!("acme.test"), &json!(ADA)));
        assert_eq!(shown["scopes"][0]["description"], "Read accounts");
        let disclosure = shown["mode_disclosure"].as_str().unwrap();
        assert!(disclosure.contains("fixed credentials"), "{disclosure}");
        assert!(disclosure.ends_with("limited to: The shared account of the front desk."), "{disclosure}");
        assert_eq!(desk.audit("account_id=svc_acme_prod").await.refusal(), (401, "delegation_not_found".into()));

        body["disclosure_id"] = shown["disclosure_id"].clone();
        let unread = desk.ada.post(plane, "/agent/delegate", &body).await;
        assert_eq!(unread.refusal(), (400, "invalid_request".into()), "not confirmed");
        body["acknowledged_disclosure"] = json!(true);
        let given = desk.ada.post(plane, "/agent/delegate", &body).await.expect(201).json();
        assert!(given["delegation_id"].as_str().unwrap().starts_with("del_"));
        let claims = claims(given["delegation_token"].as_str().unwrap());
        let names: Vec<&String> = claims.as_object().unwrap().keys().collect();
        assert_eq!(names.len(), 8, "{names:?}");
        assert_eq!(claims["granted_scope"], granted);
        assert_eq!((&claims["sub"], &claims["org_id"]), (&json!("svc_acme_prod"), &json!("org_bank")));
        assert_eq!((&claims["authorized_by"], &claims["delegated_to"]), (&json!(ADA), &json!("acme.test")));
        let again = desk.ada.post(plane, "/agent/delegate", &body).await;
        assert_eq!(again.refusal(), (410, "connect_request_gone".into()), "a request is answered once");
    }

    /// AAP-11.2-02, AAP-11.7-01, AAP-17.2-04
    async fn only_an_admin_grants_and_only_what_was_shown(kit) {
        let desk = Desk::open(kit).await;
        let plane = &desk.scene.plane;
        let request_id = desk.request(&["bank.read", "bank.note"]).await;
        let body = Desk::proposal(&request_id);
        let by_user = desk.scene.alice.post(plane, "/agent/delegate", &body).await;
        assert_eq!(by_user.refusal(), (403, "not_authorized".into()));
        let as_user = desk.scene.alice.post(plane, "/agent/delegate", &json!({ "request_id": request_id })).await;
        assert_eq!(as_user.refusal(), (400, "invalid_request".into()), "the request is for a service account");

        let shown = desk.ada.post(plane, "/agent/delegate", &body).await.expect(200).json();
        let mut wider = body.clone();
        wider["granted_scope"]["resources"] = json!(["account:*"]);
        wider["disclosure_id"] = shown["disclosure_id"].clone();
        wider["acknowledged_disclosure"] = json!(true);
        assert_eq!(desk.ada.post(plane, "/agent/delegate", &wider).await.status, 400, "another grant than the shown");
        let mut beyond = body.clone();
        beyond["granted_scope"]["scopes"] = json!(["bank.pay"]);
        assert_eq!(desk.ada.post(plane, "/agent/delegate", &beyond).await.status, 400, "not requested by acme");
        let mut unknown = body;
        unknown["request_id"] = json!("creq_unknown");
        assert_eq!(desk.ada.post(plane, "/agent/delegate", &unknown).await.status, 410);
        assert_eq!(desk.audit("account_id=svc_acme_prod").await.refusal(), (401, "delegation_not_found".into()));
    }

    /// AAP-11.3-02
    async fn whether_a_grant_crosses_users_is_computed_and_never_believed(kit) {
        let desk = Desk::open(kit).await;
        let crosses = async |resources: Value, asked: bool| {
            let request_id = desk.request(&["bank.read", "bank.note"]).await;
            let mut body = Desk::proposal(&request_id);
            body["granted_scope"]["resources"] = resources;
            body["granted_scope"]["crosses_users"] = json!(asked);
            let shown = desk.ada.post(&desk.scene.plane, "/agent/delegate", &body).await.expect(200).json();
            shown["granted_scope"]["crosses_users"].as_bool().unwrap()
        };
        assert!(!crosses(json!(["account:a1", "payee:*"]), true).await, "one user's and nobody's data");
        assert!(crosses(json!(["account:a1", "account:a2"]), false).await, "two accounts may be two users'");
        assert!(crosses(json!(["account:*"]), false).await, "all accounts are several users'");
        assert!(crosses(json!(["statement:a1"]), false).await, "one statement has data of many");
        assert!(!crosses(json!(["payee:*"]), false).await, "nobody's data");
        assert!(!crosses(json!([]), false).await);
    }
}

on_sqlite! {
    /// AAP-14.2-02, AAP-19.5-06
    async fn limits_stay_in_the_grant_and_are_shown_in_the_access_summary(kit) {
        let desk = Desk::open(kit).await;
        let account = desk.grant(|body| body["usage_limits"] = json!({ "requests_per_hour": 2 })).await;
        assert!(claims(&account.token).get("usage_limits").is_none());
        let path = format!("/agent/access-summary?delegation_id={}", account.grant);
        let summary = desk.ada.get(&desk.scene.plane, &path).await.expect(200).json();
        let listed = &summary["delegations"][0];
        assert_eq!(listed["usage_limits"], json!({ "requests_per_hour": 2 }));
        assert_eq!((&listed["mode"], &listed["account_id"]), (&json!("service_account"), &json!("svc_acme_prod")));
        assert_eq!((&listed["delegation_id"], &summary["acting_for"]), (&json!(account.grant), &json!("svc_acme_prod")));
        assert_eq!(listed["granted_scope"]["resources"], json!(["account:a1"]));
        let session = desk.session(&account).await;
        desk.calls(&session, "GET", "/accounts/a1").await.expect(200);
        desk.calls(&session, "GET", "/accounts/a1").await.expect(200);
        let third = desk.calls(&session, "GET", "/accounts/a1").await;
        assert_eq!(third.refusal(), (429, "usage_limit_reached".into()));
    }

    /// AAP-G-28, AAP-11.2-04
    async fn a_wider_grant_is_a_new_one_with_its_own_token(kit) {
        let desk = Desk::open_with(kit, |document| {
            let account = document.routes.iter_mut().find(|route| route.id == "account").unwrap();
            account.data_subjects = serde_json::from_value(json!({ "header": "x-data-subjects" })).unwrap();
        });
        let desk = desk.await;
        desk.scene.bank.set_response_header("x-data-subjects", "user_a");
        let narrow = desk.grant(|_| {}).await;
        let wide = desk.grant(|body| body["granted_scope"]["resources"] = json!(["account:a1", "account:a2"])).await;
        assert_ne!((&narrow.grant, &narrow.token), (&wide.grant, &wide.token));
        let session = desk.session(&narrow).await;
        let beyond = desk.calls(&session, "GET", "/accounts/a2").await;
        assert_eq!(beyond.refusal(), (403, "boundary_violation".into()), "the first grant is as narrow as before");
        desk.calls(&desk.session(&wide).await, "GET", "/accounts/a2").await.expect(200);
    }
}
