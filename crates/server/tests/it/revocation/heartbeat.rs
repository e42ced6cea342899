//! `POST /agent/heartbeat`: a long task gives signs of life, and its person sees when they stop (AAP 12.2).

use axum::body::Body;
use countersign_protocol::project::{OnMissed, ProjectDocument};
use countersign_testkit::{
    AgentFixture, Answer, Backend, Kit, Plane, Registered, Setup, agent_request, on_both_stores, on_sqlite, send_to,
};
use http::Method;
use serde_json::{Value, json};

/// The receipts of these tests ask for a heartbeat a minute; one is missed after 90 seconds.
const INTERVAL: i64 = 60;
const MISSED_AFTER: i64 = 90;

async fn beats(plane: &Plane, agent: &Registered, body: Value) -> Answer {
    let request = agent_request(Method::POST, "/agent/heartbeat");
    let request = request.header("authorization", format!("Bearer {}", agent.access_token));
    plane.send(request.body(Body::from(body.to_string())).unwrap()).await
}

async fn beat(plane: &Plane, agent: &Registered) -> Answer {
    beats(plane, agent, json!({ "session_id": agent.session_id })).await
}

/// A session with a receipt that asks for heartbeats.
async fn long_task(scene: &AgentFixture) -> Registered {
    scene.with_receipt(&["calendar.read"], |claims| claims["heartbeat_interval"] = json!(INTERVAL)).await.0
}

async fn missed(scene: &AgentFixture) -> i64 {
    scene.audit("event_type=heartbeat_missed").await["total_count"].as_i64().unwrap()
}

/// The running tasks with heartbeats, as the person's access summary lists them.
async fn tasks(scene: &AgentFixture) -> Value {
    let path = format!("/agent/access-summary?delegation_id={}", scene.connected.delegation_id);
    scene.alice.get(&scene.plane, &path).await.expect(200).json()["delegations"][0]["tasks"].clone()
}

async fn page(scene: &AgentFixture) -> String {
    let path = format!("/agents/{}", scene.connected.delegation_id);
    scene.alice.get(&scene.plane, &path).await.expect(200).text()
}

fn ending(document: &mut ProjectDocument) {
    document.heartbeats.on_missed = OnMissed::EndSession;
}

async fn scene_ending(kit: Kit) -> AgentFixture {
    kit.fixture_with(Setup::with_project(ending), &["calendar.read", "calendar.write"]).await
}

on_both_stores! {
    async fn the_heartbeat_of_another_session_or_of_one_that_is_over_is_refused(kit) {
        let scene = kit.fixture().await;
        let plane = &scene.plane;
        let agent = long_task(&scene).await;
        let sibling = plane.register(plane.acme(), &scene.connected).await;
        let own = json!({ "session_id": agent.session_id });
        for body in [own.clone(), json!({ "session_id": "sess_0000000000000000000000000000feed" })] {
            assert_eq!(beats(plane, &sibling, body).await.refusal(), (404, "session_not_found".into()));
        }
        assert_eq!(scene.alice.post(plane, "/agent/heartbeat", &own).await.refusal(), (404, "session_not_found".into()));
        assert_eq!(plane.post("/agent/heartbeat", &own).await.status, 401);
        for wrong in [json!({}), json!({ "session_id": null }), json!({ "session_id": agent.session_id, "progress": 101 }),
            json!({ "session_id": agent.session_id, "progress": -1 }), json!({ "session_id": agent.session_id, "progress": 0.5 }),
            json!({ "session_id": agent.session_id, "status": "all is well" })] {
            assert_eq!(beats(plane, &agent, wrong.clone()).await.refusal(), (400, "invalid_request".into()), "{wrong}");
        }
        assert_eq!(tasks(&scene).await[0]["last_heartbeat"], Value::Null, "none of them counted");
        let mut ends = own.clone();
        ends["operator_jwt"] = json!(plane.acme().jwt(plane.service(), plane.now()));
        plane.post("/agent/cancel", &ends).await.expect(200);
        assert_eq!(beat(plane, &agent).await.refusal(), (401, "access_token_invalid".into()));
        plane.advance_secs(MISSED_AFTER).await;
        assert_eq!(missed(&scene).await, 0, "nobody waits for a session that is over");
        assert!(tasks(&scene).await.is_null());
    }

    /// AAP-G-29
    async fn a_heartbeat_moves_the_next_one_and_a_missed_one_is_shown_once(kit) {
        let scene = kit.fixture().await;
        let plane = &scene.plane;
        let agent = long_task(&scene).await;
        plane.advance_secs(MISSED_AFTER - 1).await;
        let told = beats(plane, &agent, json!({ "session_id": agent.session_id, "status": "waiting", "progress": 40 })).await;
        let next = plane.now().plus_secs(INTERVAL).to_rfc3339();
        assert_eq!(told.expect(200).json(), json!({ "received_at": plane.now().to_rfc3339(), "next_before": next, "abort": false }));
        plane.advance_secs(MISSED_AFTER - 1).await;
        assert_eq!(missed(&scene).await, 0);
        let shown = &tasks(&scene).await[0];
        assert_eq!((&shown["status"], &shown["progress"], &shown["missed_at"]), (&json!("waiting"), &json!(40), &Value::Null));
        assert!(page(&scene).await.contains("Last heartbeat"), "the person sees it");

        plane.advance_secs(1).await;
        let since = plane.now().to_rfc3339();
        plane.advance_secs(600).await;
        assert_eq!(missed(&scene).await, 1, "one entry, however long the silence");
        assert_eq!(tasks(&scene).await[0]["missed_at"], json!(since));
        assert!(page(&scene).await.contains("No sign of life since"), "the person sees it");

        beat(plane, &agent).await.expect(200);
        assert_eq!(tasks(&scene).await[0]["missed_at"], Value::Null);
        plane.call(&agent, Method::GET, "/calendar/events", "READ_CALENDAR").await.expect(200);
        plane.advance_secs(MISSED_AFTER).await;
        assert_eq!(missed(&scene).await, 2);
    }

    async fn a_missed_heartbeat_ends_the_session_where_the_project_wants_that(kit) {
        let scene = scene_ending(kit).await;
        let plane = &scene.plane;
        let agent = long_task(&scene).await;
        beat(plane, &agent).await.expect(200);
        plane.advance_secs(MISSED_AFTER - 1).await;
        plane.call(&agent, Method::GET, "/calendar/events", "READ_CALENDAR").await.expect(200);
        plane.advance_secs(1).await;
        let reached = scene.reached();
        let call = plane.call(&agent, Method::GET, "/calendar/events", "READ_CALENDAR").await;
        assert_eq!(call.refusal(), (401, "access_token_invalid".into()));
        assert_eq!(beat(plane, &agent).await.refusal(), (401, "access_token_invalid".into()));
        assert_eq!((scene.reached(), missed(&scene).await), (reached, 1));
        scene.read().await.expect(200);
    }

    async fn sessions_without_the_member_are_not_watched_and_their_heartbeats_write_nothing(kit) {
        let scene = scene_ending(kit).await;
        let plane = &scene.plane;
        let (agent, _) = scene.with_receipt(&["calendar.read"], |_| ()).await;
        for agent in [&agent, &scene.agent] {
            let told = beat(plane, agent).await.expect(200).json();
            assert_eq!(told, json!({ "received_at": plane.now().to_rfc3339(), "abort": false }));
        }
        plane.advance_secs(800).await;
        assert_eq!(missed(&scene).await, 0);
        assert!(tasks(&scene).await.is_null());
        plane.call(&agent, Method::GET, "/calendar/events", "READ_CALENDAR").await.expect(200);
    }
}

on_sqlite! {
    async fn an_interval_out_of_bounds_is_refused_with_its_receipt(kit) {
        let scene = kit.fixture().await;
        for wrong in [json!(59), json!(86_401), json!(0), json!(-60), json!("60"), json!(60.5), Value::Null] {
            let (body, _) = scene.receipt_body(&["calendar.read"], |claims| claims["heartbeat_interval"] = wrong.clone());
            let refused = scene.plane.post("/agent/register", &body).await;
            assert_eq!(refused.refusal(), (401, "consent_invalid".into()), "{wrong}");
        }
        for right in [60, 86_400] {
            scene.with_receipt(&["calendar.read"], |claims| claims["heartbeat_interval"] = json!(right)).await;
        }
    }

    async fn renewing_the_token_is_no_heartbeat(kit) {
        let scene = kit.fixture().await;
        let (body, _) = scene.receipt_body(&["calendar.read"], |claims| claims["heartbeat_interval"] = json!(INTERVAL));
        scene.plane.register_with(&body, Some(&scene.connected)).await;
        scene.plane.advance_secs(MISSED_AFTER - 1).await;
        let agent = scene.plane.register_with(&body, Some(&scene.connected)).await;
        scene.plane.advance_secs(1).await;
        assert_eq!(missed(&scene).await, 1);
        scene.plane.register_with(&body, Some(&scene.connected)).await;
        assert!(tasks(&scene).await[0]["missed_at"].is_string());
        beat(&scene.plane, &agent).await.expect(200);
        assert!(tasks(&scene).await[0]["missed_at"].is_null());
    }

    async fn nobody_waits_for_a_revoked_agent_or_after_the_end_of_consent(kit) {
        let scene = scene_ending(kit).await;
        let plane = &scene.plane;
        long_task(&scene).await;
        let (soon_over, _) = scene.with_receipt(&["calendar.read"], |claims| {
            claims["session_id"] = json!("sess_0000000000000000000000000000beef");
            claims["heartbeat_interval"] = json!(3600);
            claims["exp"] = json!(plane.now().plus_secs(60).secs());
        }).await;
        plane.advance_secs(60).await;
        beat(plane, &soon_over).await.expect(200);
        let body = json!({ "delegation_id": scene.connected.delegation_id });
        scene.alice.post(plane, "/agent/revoke", &body).await.expect(200);
        plane.advance_secs(4200).await;
        assert_eq!(missed(&scene).await, 0);
    }

    ///
    async fn a_restart_forgets_no_due_heartbeat_and_counts_none_that_could_not_be_received(kit) {
        let (plane, _folder) = kit.lasting_plane(Setup::default()).await;
        let scene = AgentFixture::on(plane, &["calendar.read", "calendar.write"]).await;
        long_task(&scene).await;
        scene.plane.advance_secs(MISSED_AFTER - 1).await;
        let scene = AgentFixture { plane: scene.plane.restart().await, ..scene };
        scene.plane.advance_secs(1).await;
        assert_eq!(missed(&scene).await, 1, "due by its row");

        let (agent, _) = scene.with_receipt(&["calendar.read"], |claims| {
            claims["session_id"] = json!("sess_0000000000000000000000000000beef");
            claims["heartbeat_interval"] = json!(INTERVAL);
        }).await;
        scene.plane.advance_without_settling(MISSED_AFTER + 60).await;
        let scene = AgentFixture { plane: scene.plane.restart().await, ..scene };
        scene.plane.advance_secs(29).await;
        assert_eq!(missed(&scene).await, 1, "it was due while nothing was running");
        scene.plane.advance_secs(1).await;
        assert_eq!(missed(&scene).await, 2, "and had half a minute from the start");
        beat(&scene.plane, &agent).await.expect(200);
    }

    async fn a_bound_token_needs_a_proof_for_each_heartbeat(kit) {
        let scene = kit.bank().await;
        let body = json!({ "session_id": scene.agent.session_id });
        let bare = agent_request(Method::POST, "/agent/heartbeat").header("authorization", scene.agent.authorization());
        let bare = scene.plane.send(bare.body(Body::from(body.to_string())).unwrap()).await;
        assert_eq!(bare.refusal(), (401, "dpop_missing".into()));
        let url = format!("{}/agent/heartbeat", scene.plane.service());
        let proof = scene.agent.proof("POST", &url, scene.plane.now()).unwrap();
        let send = async || {
            let request = agent_request(Method::POST, "/agent/heartbeat").header("authorization", scene.agent.authorization());
            scene.plane.send(request.header("dpop", &proof).body(Body::from(body.to_string())).unwrap()).await
        };
        send().await.expect(200);
        assert_eq!(send().await.refusal(), (401, "dpop_replayed".into()));
    }
}

///
#[tokio::test]
async fn two_nodes_record_a_missed_heartbeat_once() {
    let scene = scene_ending(Kit(Backend::Postgres)).await;
    let (engine, router) = scene.plane.second_node().await;
    let agent = long_task(&scene).await;
    scene.plane.advance_without_settling(MISSED_AFTER).await;
    let (first, second) = tokio::join!(scene.plane.engine.decisions().settle_due(), engine.decisions().settle_due());
    assert!(first.is_ok() && second.is_ok());
    assert_eq!(missed(&scene).await, 1);
    let request = agent_request(Method::POST, "/agent/heartbeat");
    let request = request.header("authorization", format!("Bearer {}", agent.access_token));
    let body = Body::from(json!({ "session_id": agent.session_id }).to_string());
    let refused = send_to(&router, request.body(body).unwrap()).await;
    assert_eq!(refused.refusal(), (401, "access_token_invalid".into()));
}
