//! The whole flow, once: connect, register, read, a refused write, audit, revoke.

use countersign_testkit::on_both_stores;
use http::Method;
use serde_json::json;

on_both_stores! {
    /// AAP-7.1-01, AAP-8.2-01, AAP-17-01
    async fn a_person_connects_an_agent_reads_its_audit_and_cuts_it_off(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        let connected = plane.connect(&alice, plane.acme(), &["calendar.read", "calendar.write"]).await;
        let agent = plane.register(plane.acme(), &connected).await;

        let read = plane.call(&agent, Method::GET, "/calendar/events", "READ_CALENDAR").await.expect(200);
        assert_eq!(read.json()["from"], "upstream");
        plane.call(&agent, Method::POST, "/calendar/events", "SCHEDULE_EVENT").await.expect(201);
        let refused = plane.call(&agent, Method::DELETE, "/calendar/events/1", "CLEAN_UP").await;
        assert_eq!(refused.refusal(), (403, "scope_not_granted".into()));
        assert_eq!(plane.upstream.reached().len(), 2);

        let query = format!("/agent/audit?delegation_id={}", connected.delegation_id);
        let page = alice.get(&plane, &query).await.expect(200).json();
        let outcomes: Vec<_> = page["entries"].as_array().unwrap().iter().map(|e| e["outcome"].as_str()).collect();
        let wanted = [None, None, Some("200 OK"), Some("201 Created"), Some("403 scope_not_granted")];
        assert_eq!(outcomes, wanted, "{page:#}");

        let revoke = json!({ "delegation_id": connected.delegation_id, "reason": "user_requested" });
        alice.post(&plane, "/agent/revoke", &revoke).await.expect(200);
        let cut_off = plane.call(&agent, Method::GET, "/calendar/events", "READ_CALENDAR").await;
        assert_eq!(cut_off.refusal(), (401, "delegation_revoked".into()));
        assert_eq!(cut_off.header("x-agent-revoke-reason"), Some("manual_revoke"));
    }
}
