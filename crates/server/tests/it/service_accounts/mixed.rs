//! Both modes in one session (AAP 11.6, 21).

use super::desk::{Account, Desk, session_id, without};
use countersign_testkit::{
    bank::{BankFixture, GatewayRequest, Manner},
    deadline::{until, within_deadline},
    on_both_stores, on_sqlite,
};
use serde_json::json;

async fn joins_too_late(desk: &Desk, account: &Account, shared: &str) {
    let late = desk.registers(account, |body| body["session_id"] = json!(shared)).await;
    assert_eq!(late.refusal(), (400, "mode_not_supported".into()));
}

fn note() -> GatewayRequest {
    GatewayRequest::new("POST", "/notes").json(r#"{"note":"first"}"#)
}

on_both_stores! {
    /// AAP-21-01, AAP-21-11, AAP-21-12, AAP-G-53, AAP-11.6-06
    async fn two_registrations_share_a_session_and_one_chronological_audit(kit) {
        let desk = Desk::open(kit).await;
        let account = desk.grant(|_| {}).await;
        let shared = session_id(1);
        let alice = desk.user_session(&shared).await.expect(200).json();
        let service = desk.session_in(&account, Some(&shared)).await;
        assert_eq!((alice["session_id"].as_str().unwrap(), &service.session_id), (shared.as_str(), &shared));
        desk.calls(&service, "GET", "/accounts/a1").await.expect(200);
        desk.scene.plane.advance_secs(1).await;
        desk.calls_as_alice(&alice, "GET", "/accounts/a2").await.expect(200);
        desk.scene.plane.advance_secs(1).await;
        desk.calls(&service, "GET", "/accounts/a1").await.expect(200);
        let swapped = without(service.call("GET", "/accounts/a1"), "x-agent-mode").with("x-agent-mode", "user_delegated");
        assert_eq!(desk.scene.sends_raw(swapped).await.refusal(), (400, "mode_not_supported".into()));
        let entries = desk.entries(&format!("session_id={shared}&event_type=call")).await;
        let modes: Vec<_> = entries.iter().map(|entry| entry["mode"].as_str().unwrap()).collect();
        assert_eq!(modes, ["service_account", "user_delegated", "service_account", "service_account"]);
        let times: Vec<_> = entries.iter().map(|entry| entry["timestamp"].as_str().unwrap()).collect();
        assert!(times.is_sorted(), "{times:?}");
        for entry in desk.entries(&format!("session_id={shared}")).await {
            assert!(entry["mode"].is_string(), "{entry}");
        }
        // Each mode's token acts for its own delegation alone.
        let mine = desk.scene.plane.get("/agent/access-summary").await;
        assert_eq!(mine.status, 401);
    }

    /// AAP-21-02, AAP-23-13, TV-F-09
    async fn the_modes_freeze_with_the_first_call(kit) {
        let desk = Desk::open(kit).await;
        let account = desk.grant(|_| {}).await;
        let shared = session_id(2);
        let alice = desk.user_session(&shared).await.expect(200).json();
        let undeclared = without(desk.session(&account).await.call("GET", "/accounts/a1"), "x-agent-session");
        let undeclared = undeclared.with("x-agent-session", &shared);
        assert_eq!(desk.scene.sends_raw(undeclared).await.refusal(), (401, "delegation_mismatch".into()));
        desk.calls_as_alice(&alice, "GET", "/accounts").await.expect(200);
        let late = desk.registers(&account, |body| body["session_id"] = json!(shared)).await;
        assert_eq!(late.refusal(), (400, "mode_not_supported".into()));
        desk.user_session(&shared).await.expect(200);

        let other = session_id(3);
        let service = desk.session_in(&account, Some(&other)).await;
        desk.calls(&service, "GET", "/accounts").await.expect(200);
        assert_eq!(desk.user_session(&other).await.refusal(), (400, "mode_not_supported".into()));
    }

    /// AAP-21-02, AAP-23-13
    async fn the_modes_are_frozen_while_the_first_call_is_still_under_way(kit) {
        let desk = Desk::open(kit).await;
        let account = desk.grant(|_| {}).await;
        // A write whose response the upstream still owes.
        let shared = session_id(21);
        let alice = desk.user_session(&shared).await.expect(200).json();
        desk.scene.bank.set_manner(Manner::Thoughtful);
        let (answer, ()) = tokio::join!(desk.sends_as_alice(&alice, note(), "NOTE"), async {
            desk.scene.bank.next_arrival().await;
            joins_too_late(&desk, &account, &shared).await;
            desk.scene.bank.release_response();
        });
        answer.expect(201);
        // A stream that is open.
        let shared = session_id(22);
        let alice = desk.user_session(&shared).await.expect(200).json();
        desk.scene.bank.set_manner(Manner::Events);
        let stream = desk.opens_as_alice(&alice, GatewayRequest::new("GET", "/prices"), "READ_ACCOUNTS").await;
        let stream = stream.opened(200);
        joins_too_late(&desk, &account, &shared).await;
        let body = json!({ "delegation_id": desk.scene.connected.delegation_id });
        desk.scene.alice.post(&desk.scene.plane, "/agent/revoke", &body).await.expect(200);
        within_deadline("the end of the stream", stream.read_to_end()).await.expect(200);
    }

    /// AAP-21-02, AAP-23-13
    async fn a_call_that_waits_for_a_person_freezes_the_modes(kit) {
        let desk = Desk::open(kit).await;
        let account = desk.grant(|_| {}).await;
        let shared = session_id(23);
        let alice = desk.user_session(&shared).await.expect(200).json();
        let (answer, ()) = tokio::join!(desk.sends_as_alice(&alice, BankFixture::transfer().waits(30), "PAY"), async {
            until("the pending call", async || desk.scene.plane.engine.pending_requests() > 0).await;
            joins_too_late(&desk, &account, &shared).await;
            let asked = BankFixture::decision(&desk.sends_as_alice(&alice, BankFixture::transfer(), "PAY").await);
            desk.scene.alice.rejects(&desk.scene.plane, &asked, None).await;
        });
        assert_eq!(answer.status, 403, "{}", answer.text());
    }

    /// AAP-21-04, AAP-21-07, AAP-21-08, AAP-21-09
    async fn revoking_one_mode_leaves_the_other_working(kit) {
        let desk = Desk::open(kit).await;
        let account = desk.grant(|_| {}).await;
        for users_first in [true, false] {
            let shared = session_id(if users_first { 4 } else { 5 });
            let desk = &desk;
            if users_first {
                let alice = desk.user_session(&shared).await.expect(200).json();
                let service = desk.session_in(&account, Some(&shared)).await;
                desk.revokes(json!({ "account_id": account.id })).await.expect(200);
                let refused = desk.calls(&service, "GET", "/accounts/a1").await;
                assert_eq!(refused.refusal(), (401, "delegation_revoked".into()));
                desk.calls_as_alice(&alice, "GET", "/accounts").await.expect(200);
            } else {
                let account = desk.grant(|body| body["account_id"] = json!("svc_second")).await;
                let service = desk.session_in(&account, Some(&shared)).await;
                let alice = desk.user_session(&shared).await.expect(200).json();
                let body = json!({ "delegation_id": desk.scene.connected.delegation_id });
                desk.scene.alice.post(&desk.scene.plane, "/agent/revoke", &body).await.expect(200);
                let refused = desk.calls_as_alice(&alice, "GET", "/accounts").await;
                assert_eq!(refused.refusal(), (401, "delegation_revoked".into()));
                desk.calls(&service, "GET", "/accounts/a1").await.expect(200);
                desk.revokes(json!({ "delegation_id": account.grant })).await.expect(200);
                let refused = desk.calls(&service, "GET", "/accounts/a1").await;
                assert_eq!(refused.refusal(), (401, "delegation_revoked".into()));
            }
        }
    }
}

on_sqlite! {
    /// AAP-21-10
    async fn an_expired_receipt_leaves_the_service_account_working(kit) {
        let desk = Desk::open(kit).await;
        let account = desk.grant(|_| {}).await;
        let plane = &desk.scene.plane;
        let mut claims = plane.receipt_claims(plane.acme(), "alice", &desk.scene.connected, &["bank.read"]);
        claims["session_id"] = json!(session_id(6));
        claims["exp"] = json!(plane.now().secs() + 60);
        let mut body = plane.register_body(plane.acme(), &desk.scene.connected);
        body["consent_receipt"] = json!(plane.acme().sign_receipt(&claims));
        let alice = plane.post("/agent/register", &body).await.expect(200).json();
        let service = desk.session_in(&account, Some(&session_id(6))).await;
        desk.calls_as_alice(&alice, "GET", "/accounts").await.expect(200);
        plane.advance_secs(60 + 301).await;
        let expired = desk.calls_as_alice(&alice, "GET", "/accounts").await;
        assert_eq!(expired.refusal(), (401, "consent_expired".into()));
        desk.calls(&service, "GET", "/accounts/a1").await.expect(200);
    }

    /// AAP-G-53, R-12
    async fn a_session_takes_no_second_delegation_of_a_mode(kit) {
        let desk = Desk::open(kit).await;
        let (one, two) = (desk.grant(|_| {}).await, desk.grant(|body| body["account_id"] = json!("svc_second")).await);
        let shared = session_id(7);
        desk.session_in(&one, Some(&shared)).await;
        let other = desk.registers(&two, |body| body["session_id"] = json!(shared)).await;
        assert_eq!(other.refusal(), (401, "delegation_mismatch".into()));
        desk.session_in(&one, Some(&shared)).await;
        desk.user_session(&shared).await.expect(200);
    }
}
