//! Readers of the audit: the id only selects, it grants no access (C-61, C-62).

use axum::body::Body;
use countersign_engine::{ApiKeyKind, Role};
use countersign_testkit::{Answer, Plane, Setup, agent_request, on_sqlite};
use http::Method;
use serde_json::{Value, json};

async fn with_bearer(plane: &Plane, bearer: &str, query: &str) -> Answer {
    let request = agent_request(Method::GET, &format!("/agent/audit?{query}"));
    let request = request.header("authorization", format!("Bearer {bearer}"));
    plane.send(request.body(Body::empty()).unwrap()).await
}

fn told(answer: &Answer) -> (u16, Value) {
    let mut body = answer.json();
    body["request_id"] = Value::Null;
    (answer.status, body)
}

on_sqlite! {
    /// AAP-17.4-06
    async fn a_stranger_gets_the_answer_of_an_unknown_id_and_no_entry(kit) {
        let setup = Setup { operators: vec!["acme.test", "evil.test"], ..Setup::default() };
        let scene = kit.fixture_with(setup, &["calendar.read"]).await;
        let plane = &scene.plane;
        scene.read().await.expect(200);
        let bob = plane.person("bob").await;
        let carol = plane.person_in("calendar", "carol", &[Role::Approver]).await;
        let of_bob = plane.connect(&bob, plane.operator("evil.test"), &["calendar.read"]).await;
        let agent_of_bob = plane.register(plane.operator("evil.test"), &of_bob).await;
        let enforcement_point = plane.key_of(ApiKeyKind::EnforcementPoint, "alice", &[], &[]).await.token;

        let by_delegation = format!("delegation_id={}", scene.connected.delegation_id);
        let by_session = format!("session_id={}", scene.agent.session_id);
        let both = format!("{by_delegation}&{by_session}");
        let unknown_delegation = "delegation_id=del_00000000000000000000000000000000";
        let unknown_session = "session_id=sess_0000000000000000000000000000feed";
        for (query, unknown, refusal) in [
            (&by_delegation, unknown_delegation, (401, "delegation_not_found")),
            (&by_session, unknown_session, (404, "session_not_found")),
            (&both, unknown_delegation, (401, "delegation_not_found")),
        ] {
            let reference = scene.alice.get(plane, &format!("/agent/audit?{unknown}")).await;
            assert_eq!(reference.refusal(), (refusal.0, refusal.1.into()));
            let path = format!("/agent/audit?{query}");
            let answers = [
                bob.get(plane, &path).await,
                carol.get(plane, &path).await,
                plane.audit(plane.operator("evil.test"), query).await,
                with_bearer(plane, &agent_of_bob.access_token, query).await,
            ];
            for answer in &answers {
                assert_eq!(told(answer), told(&reference));
            }
            let key = with_bearer(plane, &enforcement_point, query).await;
            assert!([401, 403, 404].contains(&key.status) && !key.text().contains("entries"), "{}", key.text());
            let nobody = plane.get(&path).await;
            assert_eq!(nobody.refusal(), (401, "agent_auth_required".into()));
        }
        // An own session does not combine with another person's delegation.
        let mixed = format!("delegation_id={}&session_id={}", of_bob.delegation_id, scene.agent.session_id);
        assert_eq!(bob.get(plane, &format!("/agent/audit?{mixed}")).await.refusal(), (404, "session_not_found".into()));
    }

    /// AAP-17.4-06, AAP-7.1-01
    async fn every_entitled_reader_gets_the_same_entries(kit) {
        let scene = kit.fixture().await;
        let plane = &scene.plane;
        scene.read().await.expect(200);
        scene.write().await.expect(201);
        let root = plane.person_in("calendar", "root", &[Role::Admin]).await;
        let carol = plane.person_in("calendar", "carol", &[Role::Auditor]).await;
        let admin_key = plane.key_of(ApiKeyKind::Admin, "alice", &[], &[]).await.token;
        let by_delegation = (format!("delegation_id={}", scene.connected.delegation_id), 4);
        let by_session = (format!("session_id={}", scene.agent.session_id), 3);
        let both = (format!("{}&{}", by_delegation.0, by_session.0), 3);
        for (query, count) in [by_delegation, by_session, both] {
            let path = format!("/agent/audit?{query}");
            let reference = scene.alice.get(plane, &path).await.expect(200).json();
            assert_eq!((&reference["total_count"], reference["entries"].as_array().unwrap().len()), (&json!(count), count));
            let answers = [
                root.get(plane, &path).await,
                carol.get(plane, &path).await,
                plane.audit(plane.acme(), &query).await,
                with_bearer(plane, &admin_key, &query).await,
                with_bearer(plane, &scene.agent.access_token, &query).await,
            ];
            for answer in answers {
                assert_eq!(answer.expect(200).json(), reference);
            }
        }
    }

    /// AAP-17.4-06
    async fn a_query_that_names_nothing_is_refused(kit) {
        let scene = kit.fixture().await;
        for query in ["", "limit=5", "from=2026-01-01T00:00:00Z"] {
            let answer = scene.alice.get(&scene.plane, &format!("/agent/audit?{query}")).await;
            assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{query}");
        }
    }

    /// AAP-17.4-06, R-12
    async fn two_operators_may_use_the_same_session_id_and_see_only_their_own(kit) {
        let setup = Setup { operators: vec!["acme.test", "evil.test"], ..Setup::default() };
        let scene = kit.fixture_with(setup, &["calendar.read"]).await;
        let plane = &scene.plane;
        let evil = plane.operator("evil.test");
        let bob = plane.person("bob").await;
        let of_bob = plane.connect(&bob, evil, &["calendar.read"]).await;
        let mut body = plane.register_body(evil, &of_bob);
        body["session_id"] = json!(scene.agent.session_id);
        plane.register_with(&body, Some(&of_bob)).await;
        let query = format!("session_id={}", scene.agent.session_id);
        let path = format!("/agent/audit?{query}");
        for (answer, operator) in [
            (scene.alice.get(plane, &path).await, "acme.test"),
            (plane.audit(plane.acme(), &query).await, "acme.test"),
            (bob.get(plane, &path).await, "evil.test"),
            (plane.audit(evil, &query).await, "evil.test"),
        ] {
            let page = answer.expect(200).json();
            assert_eq!(page["total_count"], 1);
            assert_eq!(page["entries"][0]["operator"], operator);
        }
    }
}
