//! A restart changes nothing: grants stay granted, revocations stay revoked.

use super::support::{Ready, SCOPES, told};
use countersign_testkit::{Plane, Setup, on_both_stores};
use http::Method;
use serde_json::json;

on_both_stores! {
    async fn sessions_tokens_and_revocations_survive_a_restart(kit) {
        let (place, _folder) = kit.readable_location().await;
        let mut ready = Ready::at(Plane::start(Setup::default(), place).await).await;
        let bob = ready.plane.person("bob").await;
        let revoked = ready.plane.connect(&bob, ready.plane.acme(), SCOPES).await;
        let (live, cut_off) = (
            ready.plane.register_with(&ready.body_with(&ready.receipt()), Some(&ready.connected)).await,
            ready.plane.register(ready.plane.acme(), &revoked).await,
        );
        let carol = ready.plane.person("carol").await;
        let cancelled = ready.plane.connect(&carol, ready.plane.acme(), SCOPES).await;
        ready.plane.advance_secs(1).await;
        let receipt = ready.plane.receipt_claims(ready.plane.acme(), "carol", &cancelled, SCOPES);
        let mut taken_back = ready.plane.register_body(ready.plane.acme(), &cancelled);
        taken_back["consent_receipt"] = json!(ready.plane.acme().sign_receipt(&receipt));
        let ended = ready.plane.register_with(&taken_back, Some(&cancelled)).await;
        let revoke = json!({ "delegation_id": revoked.delegation_id });
        bob.post(&ready.plane, "/agent/revoke", &revoke).await.expect(200);
        let cancel = json!({ "session_id": ended.session_id, "operator_jwt": ready.body()["operator_jwt"] });
        ready.plane.post("/agent/cancel", &cancel).await.expect(200);

        ready.plane = ready.plane.restart().await;
        let plane = &ready.plane;
        let read = async |agent| plane.call(agent, Method::GET, "/calendar/events", "READ_CALENDAR").await;
        read(&live).await.expect(200);
        assert_eq!(read(&cut_off).await.refusal(), told(401, "delegation_revoked"));
        assert_eq!(read(&ended).await.status, 401);
        assert_eq!(ready.refusal(&taken_back).await, told(401, "consent_invalid"));
        let again = plane.register_body(plane.acme(), &revoked);
        assert_eq!(ready.refusal(&again).await, told(401, "delegation_revoked"));
        // The same session, the same key: a token issued before the restart still carries our valid signature.
        let after = plane.register(plane.acme(), &ready.connected).await;
        read(&after).await.expect(200);
        let same = ready.register(&ready.body_with(&with_session(&ready, &live.session_id))).await.expect(200);
        assert_eq!(same.json()["session_id"], live.session_id);
        plane.advance_secs(3600).await;
        assert_eq!(read(&live).await.refusal(), told(401, "access_token_expired"));
    }
}

fn with_session(ready: &Ready, session_id: &str) -> serde_json::Value {
    super::support::with(ready.receipt(), "session_id", json!(session_id))
}
