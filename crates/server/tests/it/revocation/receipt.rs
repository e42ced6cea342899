//! `POST /agent/cancel`: a session ends; from the operator it also revokes the receipt (C-41).

use crate::register::support::{Ready, told, with};
use axum::body::Body;
use countersign_testkit::{Answer, Plane, Registered, Setup, TestOperator, agent_request, on_both_stores};
use http::Method;
use serde_json::{Value, json};

async fn cancel(plane: &Plane, operator: &TestOperator, mut body: Value) -> Answer {
    body["operator_jwt"] = json!(operator.jwt(plane.service(), plane.now()));
    plane.post("/agent/cancel", &body).await
}

async fn cancel_as_agent(plane: &Plane, agent: &Registered, body: &Value) -> Answer {
    let request = agent_request(Method::POST, "/agent/cancel");
    let request = request.header("authorization", format!("Bearer {}", agent.access_token));
    plane.send(request.body(Body::from(body.to_string())).unwrap()).await
}

async fn read(plane: &Plane, agent: &Registered) -> Answer {
    plane.call(agent, Method::GET, "/calendar/events", "READ_CALENDAR").await
}

on_both_stores! {
    /// AAP-8.2-02, AAP-8.1-03, AAP-12.2-06
    async fn a_receipt_that_its_operator_takes_back_ends_the_session_and_counts_no_more(kit) {
        let scene = kit.fixture().await;
        let plane = &scene.plane;
        let (body, _) = scene.receipt_body(&["calendar.read"], |_| ());
        let agent = plane.register_with(&body, Some(&scene.connected)).await;
        let second_token = plane.register_with(&body, Some(&scene.connected)).await;
        read(plane, &agent).await.expect(200);
        plane.advance_secs(1).await;
        let answer = cancel(plane, plane.acme(), json!({ "session_id": agent.session_id, "reason": "changed my mind" })).await;
        let cancelled_at = plane.now().to_rfc3339();
        let nothing = json!({ "finished": true, "undone": [], "done": [], "not_done": [], "unknown": [] });
        let told = json!({ "cancelled_at": cancelled_at, "rollback_status": "completed", "rollback": nothing });
        assert_eq!(answer.expect(200).json(), told, "it only read");
        for agent in [&agent, &second_token] {
            assert_eq!(read(plane, agent).await.refusal(), (401, "access_token_invalid".into()));
        }
        let again = plane.post("/agent/register", &body).await;
        assert_eq!(again.refusal(), (401, "consent_invalid".into()));
        // The same receipt cannot come back in another session either: it names its own.
        let mut elsewhere = body.clone();
        elsewhere["session_id"] = json!("sess_0000000000000000000000000000feed");
        assert_eq!(plane.post("/agent/register", &elsewhere).await.refusal(), (401, "consent_invalid".into()));

        let page = scene.audit("event_type=consent_revoked").await;
        assert_eq!(page["total_count"], 1);
        let entry = &page["entries"][0];
        assert_eq!((&entry["session_id"], &entry["by"]), (&json!(agent.session_id), &json!("operator")));
        assert_eq!((&entry["timestamp"], &entry["reason"]), (&json!(cancelled_at), &json!("changed my mind")));

        // Fresh consent continues, in the same session or another, and the delegation was never touched.
        let (same, _) = scene.with_receipt(&["calendar.read"], |claims| claims["session_id"] = json!(agent.session_id)).await;
        let (other, _) = scene.with_receipt(&["calendar.read"], |claims| {
            claims["session_id"] = json!("sess_0000000000000000000000000000beef");
        }).await;
        for agent in [&same, &other, &scene.agent] {
            read(plane, agent).await.expect(200);
        }
        // The old tokens of the reopened session belong to revoked consent.
        for agent in [&agent, &second_token] {
            assert_eq!(read(plane, agent).await.refusal(), (401, "access_token_invalid".into()));
        }
    }

    /// AAP-17.7-04, C-89
    async fn a_cancelled_session_is_over_and_the_others_of_the_delegation_go_on(kit) {
        let scene = kit.fixture().await;
        let plane = &scene.plane;
        let second = plane.register(plane.acme(), &scene.connected).await;
        for body in [json!({}), json!({ "session_id": null }), json!({ "session_id": scene.agent.session_id, "reason": "x".repeat(201) })] {
            let answer = cancel(plane, plane.acme(), body.clone()).await;
            assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{body}");
            let answer = cancel_as_agent(plane, &scene.agent, &body).await;
            assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{body}");
        }
        read(plane, &scene.agent).await.expect(200);
        let body = json!({ "session_id": scene.agent.session_id, "reason": "ü".repeat(200) });
        cancel_as_agent(plane, &scene.agent, &body).await.expect(200);
        let reached = scene.reached();
        for answer in [scene.read().await, scene.write().await] {
            assert_eq!(answer.refusal(), (401, "access_token_invalid".into()));
        }
        assert_eq!(scene.reached(), reached, "nothing is asked of the service any more");
        read(plane, &second).await.expect(200);
        let cancelled = scene.audit("event_type=session_cancelled").await;
        assert_eq!((&cancelled["total_count"], &cancelled["entries"][0]["by"]), (&json!(1), &json!("agent")));
        // The token is refused at every endpoint; the operator may repeat the request.
        assert_eq!(cancel_as_agent(plane, &scene.agent, &body).await.refusal(), (401, "access_token_invalid".into()));
        cancel(plane, plane.acme(), json!({ "session_id": scene.agent.session_id })).await.expect(200);
        assert_eq!(scene.audit("event_type=session_cancelled").await["total_count"], 1);
    }

    /// AAP-17.7-05, AAP-12.2-06
    async fn only_the_sessions_agent_and_its_operator_may_cancel_it(kit) {
        let setup = Setup { operators: vec!["acme.test", "evil.test"], ..Setup::default() };
        let scene = kit.fixture_with(setup, &["calendar.read", "calendar.write"]).await;
        let plane = &scene.plane;
        let evil = plane.operator("evil.test");
        let of_evil = plane.connect(&scene.alice, evil, &["calendar.read"]).await;
        let agent_of_evil = plane.register(evil, &of_evil).await;
        let sibling = plane.register(plane.acme(), &scene.connected).await;
        let body = json!({ "session_id": scene.agent.session_id });
        let unknown = json!({ "session_id": "sess_0000000000000000000000000000feed" });
        let answers = [
            cancel(plane, plane.acme(), unknown.clone()).await,
            cancel(plane, evil, body.clone()).await,
            cancel_as_agent(plane, &agent_of_evil, &body).await,
            cancel_as_agent(plane, &sibling, &body).await,
            scene.alice.post(plane, "/agent/cancel", &body).await,
        ];
        let told = |answer: &Answer| {
            let mut body = answer.json();
            body["request_id"] = Value::Null;
            (answer.status, body)
        };
        assert_eq!(answers[0].refusal(), (404, "session_not_found".into()));
        for answer in &answers {
            assert_eq!(told(answer), told(&answers[0]));
        }
        assert_eq!(plane.post("/agent/cancel", &body).await.status, 401);
        scene.read().await.expect(200);
        cancel_as_agent(plane, &sibling, &json!({ "session_id": sibling.session_id })).await.expect(200);
        cancel(plane, plane.acme(), body).await.expect(200);
        assert_eq!(scene.read().await.refusal(), (401, "access_token_invalid".into()));
    }

    /// AAP-17.7-04
    async fn a_session_that_was_cancelled_does_not_open_again_without_fresh_consent(kit) {
        let scene = kit.fixture().await;
        let plane = &scene.plane;
        cancel(plane, plane.acme(), json!({ "session_id": scene.agent.session_id })).await.expect(200);
        let mut body = plane.register_body(plane.acme(), &scene.connected);
        body["session_id"] = json!(scene.agent.session_id);
        assert_eq!(plane.post("/agent/register", &body).await.refusal(), (401, "consent_invalid".into()));
        assert_eq!(scene.read().await.refusal(), (401, "access_token_invalid".into()));
        let fresh = plane.register(plane.acme(), &scene.connected).await;
        read(plane, &fresh).await.expect(200);
    }
}

on_both_stores! {
    /// AAP-12.3-04, R-12
    async fn consent_cannot_be_shaken_off_by_registering_without_it(kit) {
        let scene = kit.fixture().await;
        let plane = &scene.plane;
        let (body, _) = scene.receipt_body(&["calendar.read"], |_| ());
        let agent = plane.register_with(&body, Some(&scene.connected)).await;
        let mut bare = plane.register_body(plane.acme(), &scene.connected);
        bare["session_id"] = json!(agent.session_id);
        let again = plane.register_with(&bare, Some(&scene.connected)).await;
        let write = plane.call(&again, Method::POST, "/calendar/events", "SCHEDULE_EVENT").await;
        assert_eq!(write.refusal(), (403, "consent_scope_exceeded".into()));

        cancel(plane, plane.acme(), json!({ "session_id": agent.session_id })).await.expect(200);
        let refused = plane.post("/agent/register", &bare).await;
        assert_eq!(refused.refusal(), (401, "consent_invalid".into()));
    }
}

/// The same signature in its other form, (r, n - s): valid, and made without the key.
fn rewritten(jwt: &str) -> String {
    use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
    const N: &str = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551";
    let (said, signature) = jwt.rsplit_once('.').unwrap();
    let mut bytes = URL_SAFE_NO_PAD.decode(signature).unwrap();
    let order: Vec<u8> = (0..32).map(|n| u8::from_str_radix(&N[n * 2..n * 2 + 2], 16).unwrap()).collect();
    let mut borrow = 0;
    for n in (0..32).rev() {
        let digit = i16::from(order[n]) - i16::from(bytes[32 + n]) - borrow;
        (bytes[32 + n], borrow) = if digit < 0 { ((digit + 256) as u8, 1) } else { (digit as u8, 0) };
    }
    format!("{said}.{}", URL_SAFE_NO_PAD.encode(bytes))
}

on_both_stores! {
    /// AAP-8.2-02
    async fn a_revoked_receipt_stays_revoked_in_every_spelling_of_its_signature(kit) {
        let scene = kit.fixture().await;
        let plane = &scene.plane;
        let (mut body, _) = scene.receipt_body(&["calendar.read"], |_| ());
        let receipt = body["consent_receipt"].as_str().unwrap().to_owned();
        body["consent_receipt"] = json!(rewritten(&receipt));
        let agent = plane.register_with(&body, Some(&scene.connected)).await;
        cancel(plane, plane.acme(), json!({ "session_id": agent.session_id })).await.expect(200);
        for again in [rewritten(&receipt), receipt] {
            body["consent_receipt"] = json!(again);
            assert_eq!(plane.post("/agent/register", &body).await.refusal(), (401, "consent_invalid".into()));
        }
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
}
