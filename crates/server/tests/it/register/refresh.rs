//! Registering again: without the person while everything holds, and not at all after a revocation.

use super::support::{Ready, told, with};
use countersign_jose::SigningKey;
use countersign_testkit::{Registered, Setup, on_both_stores};
use http::Method;
use serde_json::json;

async fn read(ready: &Ready, agent: &Registered) -> countersign_testkit::Answer {
    ready.plane.call(agent, Method::GET, "/calendar/events", "READ_CALENDAR").await
}

/// A plane with access tokens that outlive the hour for which an operator's keys are cached.
fn long_lived() -> Setup {
    Setup::with_project(|p| (p.credential_ttl, p.max_agent_ttl) = (86_400, 86_400))
}

on_both_stores! {
    /// AAP-7-07
    async fn when_access_has_expired_the_same_tokens_and_a_fresh_operator_jwt_renew_it(kit) {
        let ready = Ready::on(kit).await;
        let body = ready.body_with(&ready.receipt());
        let agent = ready.plane.register_with(&body, Some(&ready.connected)).await;
        ready.plane.advance_secs(3601).await;
        assert_eq!(read(&ready, &agent).await.refusal(), told(401, "access_token_expired"));
        assert_eq!(ready.refusal(&body).await, told(401, "operator_jwt_expired"));

        let fresh = with(body, "operator_jwt", ready.body()["operator_jwt"].clone());
        let again = ready.plane.register_with(&fresh, Some(&ready.connected)).await;
        assert_eq!(again.session_id, agent.session_id);
        read(&ready, &again).await.expect(200);

        let query = format!("delegation_id={}", ready.connected.delegation_id);
        let page = ready.plane.audit(ready.plane.acme(), &query).await.json();
        let by_user = page["entries"].as_array().unwrap().iter().filter(|entry| entry["by"] == "user");
        assert_eq!(by_user.count(), 1, "the grant, and nothing after it: {page:#}");
    }

    /// AAP-8.1-03
    async fn a_revoked_delegation_ends_access_and_cannot_be_refreshed(kit) {
        let ready = Ready::on(kit).await;
        let agent = ready.plane.register(ready.plane.acme(), &ready.connected).await;
        let revoke = json!({ "delegation_id": ready.connected.delegation_id });
        ready.alice.post(&ready.plane, "/agent/revoke", &revoke).await.expect(200);
        for answer in [ready.register(&ready.body()).await, read(&ready, &agent).await] {
            assert_eq!(answer.refusal(), told(401, "delegation_revoked"));
            assert_eq!(answer.header("x-agent-revoke-reason"), Some("manual_revoke"));
        }
    }

    /// AAP-8.1-03
    async fn a_receipt_that_was_taken_back_ends_access_and_cannot_be_refreshed(kit) {
        let ready = Ready::on(kit).await;
        let body = ready.body_with(&ready.receipt());
        let agent = ready.plane.register_with(&body, Some(&ready.connected)).await;
        let cancel = json!({ "session_id": agent.session_id, "operator_jwt": ready.body()["operator_jwt"] });
        ready.plane.post("/agent/cancel", &cancel).await.expect(200);
        assert_eq!(read(&ready, &agent).await.status, 401);
        assert_eq!(ready.refusal(&body).await, told(401, "consent_invalid"));
        // Not in another session either: the receipt itself is revoked. A new receipt is accepted.
        ready.plane.advance_secs(1).await;
        ready.register(&ready.body_with(&ready.receipt())).await.expect(200);
        assert_eq!(ready.refusal(&body).await, told(401, "consent_invalid"));
    }

    /// A receipt that its operator revokes after the agent has ended the session is refused all the same.
    async fn a_receipt_can_be_taken_back_after_its_session_has_ended(kit) {
        let ready = Ready::on(kit).await;
        let first = ready.body_with(&ready.receipt());
        let agent = ready.plane.register_with(&first, Some(&ready.connected)).await;
        let ends = agent.request(Method::POST, "/agent/cancel", "SCHEDULE_EVENT");
        let ends = ends.body(json!({ "session_id": agent.session_id }).to_string().into()).unwrap();
        ready.plane.send(ends).await.expect(200);
        let taken_back = json!({ "session_id": agent.session_id, "operator_jwt": ready.body()["operator_jwt"] });
        ready.plane.post("/agent/cancel", &taken_back).await.expect(200);
        // The same session continues with fresh consent, and the old receipt must not profit from that.
        let fresh = with(ready.receipt(), "intent", json!("asked again"));
        ready.register(&ready.body_with(&fresh)).await.expect(200);
        assert_eq!(ready.refusal(&first).await, told(401, "consent_invalid"));
    }

    /// AAP-8.2-03, AAP-8.1-03
    async fn a_withdrawn_operator_key_ends_its_sessions_within_the_hour_and_the_delegation_stays(kit) {
        let ready = Ready::with(kit, long_lived()).await;
        let acme = ready.plane.acme();
        // The keys were fetched half an hour before the session begins.
        ready.plane.advance_secs(1800).await;
        let agent = ready.plane.register(acme, &ready.connected).await;
        let new = SigningKey::generate(Some("key-2")).unwrap();
        acme.publish(&[&new]);
        ready.plane.advance_secs(1800).await;
        read(&ready, &agent).await.expect(200);
        ready.plane.advance_secs(1).await;

        assert_eq!(ready.refusal(&ready.body()).await, told(401, "operator_not_found"));
        let ended = read(&ready, &agent).await;
        assert_eq!(ended.refusal(), told(401, "operator_jwt_invalid"));
        assert_eq!(ended.header("x-agent-revoke-reason"), Some("key_rotation"));

        let jwt = new.sign("aap-operator+jwt", &ready.operator_claims()).unwrap();
        let body = with(ready.body(), "operator_jwt", json!(jwt));
        let again = ready.plane.register_with(&body, Some(&ready.connected)).await;
        read(&ready, &again).await.expect(200);
        // Sessions opened with the old key stay closed.
        assert_eq!(read(&ready, &agent).await.refusal(), told(401, "operator_jwt_invalid"));
    }

    /// AAP-8.2-03
    async fn a_key_that_is_still_published_keeps_its_sessions_and_an_operator_out_of_reach_does_not(kit) {
        let ready = Ready::with(kit, long_lived()).await;
        let agent = ready.plane.register(ready.plane.acme(), &ready.connected).await;
        ready.plane.advance_secs(3601).await;
        read(&ready, &agent).await.expect(200);
        ready.plane.acme().host.go_offline();
        ready.plane.advance_secs(3600).await;
        read(&ready, &agent).await.expect(200);
        ready.plane.advance_secs(1).await;
        assert_eq!(read(&ready, &agent).await.refusal(), told(401, "operator_not_found"));
        ready.plane.acme().host.recover();
        ready.plane.advance_secs(60).await;
        read(&ready, &agent).await.expect(200);
    }
}
