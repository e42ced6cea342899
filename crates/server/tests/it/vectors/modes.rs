//! TV-F-09 and TV-F-10: they need a service account, which the published tokens do not contain.

use crate::service_accounts::{Desk, session_id};
use countersign_testkit::on_both_stores;
use serde_json::json;

on_both_stores! {
    /// AAP-23-13, AAP-21-02
    async fn a_mode_that_was_not_declared_at_the_start_of_a_session_is_not_supported(kit) {
        let desk = Desk::open(kit).await;
        let account = desk.grant(|_| {}).await;
        let service = desk.session_in(&account, Some(&session_id(1))).await;
        desk.calls(&service, "GET", "/accounts/a1").await.expect(200);
        let undeclared = service.call("GET", "/accounts/a1");
        let undeclared = crate::service_accounts::without(undeclared, "x-agent-mode").with("x-agent-mode", "user_delegated");
        assert_eq!(desk.scene.sends_raw(undeclared).await.refusal(), (400, "mode_not_supported".into()));
        assert_eq!(desk.user_session(&session_id(1)).await.refusal(), (400, "mode_not_supported".into()));
    }

    /// AAP-23-14, AAP-11.3-06
    async fn a_resource_outside_of_the_grant_is_a_boundary_violation_and_nothing_is_forwarded(kit) {
        let desk = Desk::open(kit).await;
        let account = desk.grant(|body| body["granted_scope"]["resources"] = json!(["account:a1"])).await;
        let service = desk.session(&account).await;
        let answer = desk.calls(&service, "GET", "/accounts/a2").await;
        assert_eq!(answer.refusal(), (403, "boundary_violation".into()));
        assert!(desk.scene.bank.got().is_empty());
    }
}
