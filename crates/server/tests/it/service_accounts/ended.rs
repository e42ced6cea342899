//! The end of a session with both modes (AAP 17.6, 17.7, 21).

use super::desk::{Account, Desk, session_id};
use axum::body::Body;
use countersign_testkit::{Connected, agent_request, on_both_stores};
use http::Method;
use serde_json::{Value, json};

/// A consent receipt for a session, of one mode.
fn receipt(desk: &Desk, subject: &str, delegation_id: &str, session: &str, method: &str) -> String {
    let plane = &desk.scene.plane;
    let connected = Connected { delegation_id: delegation_id.to_owned(), delegation_token: String::new() };
    let mut claims = plane.receipt_claims(plane.acme(), subject, &connected, &["bank.read"]);
    (claims["session_id"], claims["consent_method"]) = (json!(session), json!(method));
    plane.acme().sign_receipt(&claims)
}

/// Registers Alice's delegation with a consent receipt.
async fn consented_user(desk: &Desk, session: &str) -> (Value, String) {
    let plane = &desk.scene.plane;
    let receipt = receipt(desk, "alice", &desk.scene.connected.delegation_id, session, "explicit_ui");
    let mut body = plane.register_body(plane.acme(), &desk.scene.connected);
    (body["session_id"], body["consent_receipt"]) = (json!(session), json!(receipt));
    (plane.post("/agent/register", &body).await.expect(200).json(), receipt)
}

fn account_receipt(desk: &Desk, account: &Account, session: &str) -> String {
    receipt(desk, &account.id, &account.grant, session, "admin_bootstrap")
}

on_both_stores! {
    /// AAP-8.3-03, AAP-17.6-01
    async fn a_completed_task_ends_the_delegation_of_each_mode_that_ends_with_tasks(kit) {
        let desk = Desk::open(kit).await;
        desk.change(|document| document.auto_revoke.on_task_completion = true).await;
        // Alice connected before, without that rule.
        let account = desk.grant(|_| {}).await;
        let shared = session_id(31);
        let alice = desk.user_session(&shared).await.expect(200).json();
        let service = desk.session_in(&account, Some(&shared)).await;
        desk.calls(&service, "GET", "/accounts/a1").await.expect(200);
        let request = agent_request(Method::POST, "/agent/task-complete")
            .header("authorization", format!("Bearer {}", alice["access_token"].as_str().unwrap()));
        let body = json!({ "session_id": shared }).to_string();
        let answer = desk.scene.plane.send(request.body(Body::from(body)).unwrap()).await.expect(200);
        assert_eq!(answer.json()["revoked"], true);
        assert_eq!(desk.registers(&account, |_| {}).await.refusal(), (401, "auto_revoked".into()));
        desk.user_session(&session_id(32)).await.expect(200);
        let ended = desk.entries(&format!("account_id={}&event_type=auto_revoked", account.id)).await;
        assert_eq!(ended.len(), 1);
        let completed = desk.entries(&format!("session_id={shared}&event_type=task_completed")).await;
        assert_eq!(completed[0]["mode"], "user_delegated");
    }

    /// AAP-8.2-02
    async fn a_cancellation_by_the_operator_takes_back_the_consent_of_both_modes(kit) {
        let desk = Desk::open(kit).await;
        let account = desk.grant(|_| {}).await;
        let plane = &desk.scene.plane;
        let shared = session_id(33);
        let (_, of_alice) = consented_user(&desk, &shared).await;
        let of_account = account_receipt(&desk, &account, &shared);
        let registers = async |receipt: &str| {
            let change = |body: &mut Value| body["consent_receipt"] = json!(receipt);
            desk.registers(&account, change).await
        };
        registers(&of_account).await.expect(200);
        let cancel = json!({ "session_id": shared, "operator_jwt": plane.acme().jwt(plane.service(), plane.now()) });
        plane.post("/agent/cancel", &cancel).await.expect(200);
        plane.advance_secs(1).await;
        assert_eq!(registers(&of_account).await.refusal(), (401, "consent_invalid".into()));
        // New consent of one mode does not bring back the other's.
        registers(&account_receipt(&desk, &account, &shared)).await.expect(200);
        let mut body = plane.register_body(plane.acme(), &desk.scene.connected);
        (body["session_id"], body["consent_receipt"]) = (json!(shared), json!(of_alice));
        assert_eq!(plane.post("/agent/register", &body).await.refusal(), (401, "consent_invalid".into()));
        desk.user_session(&shared).await.expect(200);
        let entries = desk.entries(&format!("session_id={shared}&event_type=session_mode_added")).await;
        assert_eq!(entries.last().unwrap()["mode"], "user_delegated", "it joined anew, without a receipt");
    }
}
