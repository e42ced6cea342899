//! `POST /agent/revoke`: the permitted callers, the reasons, and the response (AAP 17.3).

use axum::body::Body;
use countersign_engine::{ApiKeyKind, Role};
use countersign_testkit::{Answer, Plane, Setup, TestOperator, agent_request, on_sqlite};
use http::Method;
use serde_json::{Value, json};

async fn with_bearer(plane: &Plane, bearer: &str, body: &Value) -> Answer {
    let request = agent_request(Method::POST, "/agent/revoke").header("authorization", format!("Bearer {bearer}"));
    plane.send(request.body(Body::from(body.to_string())).unwrap()).await
}

async fn as_operator(plane: &Plane, operator: &TestOperator, id: &str) -> Answer {
    let operator_jwt = operator.jwt(plane.service(), plane.now());
    plane.post("/agent/revoke", &json!({ "delegation_id": id, "operator_jwt": operator_jwt })).await
}

fn without_request_id(answer: &Answer) -> (u16, Value) {
    let mut body = answer.json();
    body["request_id"] = Value::Null;
    (answer.status, body)
}

on_sqlite! {
    /// AAP-17.3-01, AAP-17.3-03
    async fn a_malformed_revocation_revokes_nothing(kit) {
        let scene = kit.fixture().await;
        let id = &scene.connected.delegation_id;
        for body in [
            json!({}),
            json!({ "reason": "user_requested" }),
            json!({ "delegation_id": null }),
            json!({ "delegation_id": 7 }),
            json!({ "delegation_id": id, "reason": "because" }),
            json!({ "delegation_id": id, "reason": "" }),
            json!({ "delegation_id": id, "reason": "User_Requested" }),
            json!({ "delegation_id": id, "reason": 1 }),
        ] {
            let answer = scene.alice.post(&scene.plane, "/agent/revoke", &body).await;
            assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{body}");
        }
        scene.write().await.expect(201);
    }

    /// AAP-17.3-02, AAP-17.3-03, AAP-17.3-04, AAP-16.2-07, AAP-8.5-07
    async fn every_reason_is_kept_in_the_audit_and_returned_in_the_headers_vocabulary(kit) {
        let scene = kit.fixture().await;
        let plane = &scene.plane;
        for (reason, header) in [
            (None, "manual_revoke"),
            (Some("user_requested"), "manual_revoke"),
            (Some("admin_requested"), "manual_revoke"),
            (Some("task_complete"), "task_complete"),
            (Some("policy_triggered"), "policy_expired"),
        ] {
            let connected = plane.connect(&scene.alice, plane.acme(), &["calendar.read"]).await;
            let agent = plane.register(plane.acme(), &connected).await;
            plane.advance_secs(1).await;
            let mut body = json!({ "delegation_id": connected.delegation_id });
            if let Some(reason) = reason {
                body["reason"] = json!(reason);
            }
            let answer = scene.alice.post(plane, "/agent/revoke", &body).await.expect(200).json();
            let wanted = json!({ "delegation_id": connected.delegation_id, "revoked_at": plane.now().to_rfc3339() });
            assert_eq!(answer, wanted);
            let call = plane.call(&agent, Method::GET, "/calendar/events", "READ_CALENDAR").await;
            assert_eq!(call.refusal(), (401, "delegation_revoked".into()));
            assert_eq!(call.header("x-agent-revoke-reason"), Some(header));

            let query = format!("/agent/audit?delegation_id={}&event_type=delegation_revoked", connected.delegation_id);
            let page = scene.alice.get(plane, &query).await.expect(200).json();
            assert_eq!(page["total_count"], 1);
            let entry = &page["entries"][0];
            assert_eq!(entry["timestamp"], answer["revoked_at"]);
            assert_eq!(entry.get("reason").and_then(Value::as_str), reason);
            assert_eq!(entry["by"], "user");
        }
    }

    /// AAP-17.3-05
    async fn to_revoke_again_changes_nothing_and_answers_as_before(kit) {
        let scene = kit.fixture().await;
        let first = scene.revoke().await.expect(200).json();
        scene.plane.advance_secs(60).await;
        let id = &scene.connected.delegation_id;
        let again = [scene.revoke().await, as_operator(&scene.plane, scene.plane.acme(), id).await];
        for again in again {
            assert_eq!(again.expect(200).json(), first);
        }
        assert_eq!(scene.audit("event_type=delegation_revoked").await["total_count"], 1);
        assert_eq!(scene.audit("event_type=delegation_revoked").await["entries"][0]["timestamp"], first["revoked_at"]);
    }

    /// AAP-17.3-05
    async fn to_revoke_again_by_operator_jwt_alone_answers_as_before(kit) {
        let scene = kit.fixture().await;
        let id = &scene.connected.delegation_id;
        let first = as_operator(&scene.plane, scene.plane.acme(), id).await.expect(200).json();
        scene.plane.advance_secs(60).await;
        assert_eq!(as_operator(&scene.plane, scene.plane.acme(), id).await.expect(200).json(), first);
        assert_eq!(scene.audit("event_type=delegation_revoked").await["total_count"], 1);
    }

    /// C-61
    async fn a_stranger_learns_nothing_and_revokes_nothing(kit) {
        let setup = Setup { operators: vec!["acme.test", "evil.test"], ..Setup::default() };
        let scene = kit.fixture_with(setup, &["calendar.read", "calendar.write"]).await;
        let (plane, id) = (&scene.plane, scene.connected.delegation_id.as_str());
        let bob = plane.person("bob").await;
        let carol = plane.person_in("calendar", "carol", &[Role::Auditor, Role::Approver]).await;
        let of_bob = plane.connect(&bob, plane.operator("evil.test"), &["calendar.read"]).await;
        let agent_of_bob = plane.register(plane.operator("evil.test"), &of_bob).await;
        let body = json!({ "delegation_id": id });
        let unknown = json!({ "delegation_id": "del_00000000000000000000000000000000" });
        let answers = [
            scene.alice.post(plane, "/agent/revoke", &unknown).await,
            bob.post(plane, "/agent/revoke", &body).await,
            carol.post(plane, "/agent/revoke", &body).await,
            as_operator(plane, plane.operator("evil.test"), id).await,
            with_bearer(plane, &agent_of_bob.access_token, &body).await,
        ];
        let told = without_request_id(&answers[0]);
        assert_eq!(answers[0].refusal(), (401, "delegation_not_found".into()));
        for answer in &answers {
            assert_eq!(without_request_id(answer), told);
        }
        // An anonymous caller, and a browser led here from another site.
        assert_eq!(plane.post("/agent/revoke", &body).await.status, 401);
        let request = scene.alice.request(Method::POST, "/agent/revoke").header("content-type", "application/json");
        let answer = plane.send(request.body(Body::from(body.to_string())).unwrap()).await;
        assert_eq!(answer.refusal(), (403, "csrf_rejected".into()));
        scene.write().await.expect(201);
        assert_eq!(scene.audit("event_type=delegation_revoked").await["total_count"], 0);
    }

    /// C-61, AAP-8.2-01
    async fn user_admin_operator_and_the_agent_itself_may_revoke(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        let root = plane.person_in("calendar", "root", &[Role::Admin]).await;
        let key = plane.key_of(ApiKeyKind::Admin, "root", &[], &[]).await.token;
        for who in ["user", "admin", "admin key", "operator", "operator by bearer", "agent"] {
            let connected = plane.connect(&alice, plane.acme(), &["calendar.read", "calendar.write"]).await;
            let agent = plane.register(plane.acme(), &connected).await;
            plane.call(&agent, Method::POST, "/calendar/events", "SCHEDULE_EVENT").await.expect(201);
            let reached = plane.upstream.reached().len();
            let body = json!({ "delegation_id": connected.delegation_id });
            let answer = match who {
                "user" => alice.post(&plane, "/agent/revoke", &body).await,
                "admin" => root.post(&plane, "/agent/revoke", &body).await,
                "admin key" => with_bearer(&plane, &key, &body).await,
                "operator" => as_operator(&plane, plane.acme(), &connected.delegation_id).await,
                "operator by bearer" => {
                    with_bearer(&plane, &plane.acme().jwt(plane.service(), plane.now()), &body).await
                }
                _ => with_bearer(&plane, &agent.access_token, &body).await,
            };
            answer.expect(200);
            let call = plane.call(&agent, Method::POST, "/calendar/events", "SCHEDULE_EVENT").await;
            assert_eq!(call.refusal(), (401, "delegation_revoked".into()), "{who}");
            assert_eq!(plane.upstream.reached().len(), reached);
            let query = format!("/agent/audit?delegation_id={}&event_type=delegation_revoked", connected.delegation_id);
            let by = alice.get(&plane, &query).await.expect(200).json()["entries"][0]["by"].clone();
            assert_eq!(by, who.split(' ').next().unwrap());
        }
    }

    ///
    async fn keys_of_other_kinds_revoke_nothing(kit) {
        let scene = kit.fixture().await;
        for kind in [ApiKeyKind::Agent, ApiKeyKind::EnforcementPoint] {
            let key = scene.plane.key_of(kind, "alice", &[], &[]).await.token;
            let body = json!({ "delegation_id": scene.connected.delegation_id });
            let answer = with_bearer(&scene.plane, &key, &body).await;
            assert!([401, 403].contains(&answer.status), "{}", answer.text());
        }
        scene.write().await.expect(201);
    }
}
