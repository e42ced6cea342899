//! After the 200 no call passes, on any node.

use axum::body::Body;
use countersign_testkit::{AgentFixture, Answer, Backend, Kit, Setup, on_both_stores, send_to, stored_evidence};
use http::Method;
use serde_json::json;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

fn writes(scene: &AgentFixture) -> usize {
    scene.plane.upstream.reached().iter().filter(|reached| reached.method == Method::POST).count()
}

fn assert_cut_off(answer: &Answer) {
    assert_eq!(answer.refusal(), (401, "delegation_revoked".into()));
    assert_eq!(answer.header("x-agent-revoke-reason"), Some("manual_revoke"));
}

on_both_stores! {
    /// AAP-8-01, AAP-8.2-01, AAP-16.2-07, AAP-8.1-03
    async fn the_very_next_call_after_a_revocation_is_refused(kit) {
        let scene = kit.fixture().await;
        scene.read().await.expect(200);
        scene.write().await.expect(201);
        scene.revoke().await.expect(200);
        for _ in 0..2 {
            assert_cut_off(&scene.write().await);
            assert_cut_off(&scene.read().await);
        }
        assert_eq!(writes(&scene), 1);
        let body = scene.plane.register_body(scene.plane.acme(), &scene.connected);
        assert_cut_off(&scene.plane.post("/agent/register", &body).await);
    }

    /// AAP-8.2-01
    async fn an_access_token_that_was_cut_off_opens_no_endpoint_at_all(kit) {
        let scene = kit.fixture().await;
        let as_agent = async |method: Method, path: &str, body: String| {
            let request = scene.agent.request(method, path, "READ_CALENDAR");
            scene.plane.send(request.body(Body::from(body)).unwrap()).await
        };
        let audit = format!("/agent/audit?delegation_id={}", scene.connected.delegation_id);
        as_agent(Method::GET, &audit, String::new()).await.expect(200);
        scene.revoke().await.expect(200);
        assert_cut_off(&as_agent(Method::GET, &audit, String::new()).await);
        let cancel = json!({ "session_id": scene.agent.session_id }).to_string();
        assert_cut_off(&as_agent(Method::POST, "/agent/cancel", cancel).await);
        let revoke = json!({ "delegation_id": scene.connected.delegation_id }).to_string();
        assert_cut_off(&as_agent(Method::POST, "/agent/revoke", revoke).await);
    }

    /// AAP-8.2-01, C-56
    async fn every_session_of_the_delegation_ends_and_no_other(kit) {
        let scene = kit.fixture().await;
        let plane = &scene.plane;
        let second_session = plane.register(plane.acme(), &scene.connected).await;
        let other = plane.connect(&scene.alice, plane.acme(), &["calendar.read"]).await;
        let of_other = plane.register(plane.acme(), &other).await;
        for agent in [&second_session, &of_other] {
            plane.call(agent, Method::GET, "/calendar/events", "READ_CALENDAR").await.expect(200);
        }
        scene.revoke().await.expect(200);
        assert_cut_off(&scene.read().await);
        assert_cut_off(&plane.call(&second_session, Method::GET, "/calendar/events", "READ_CALENDAR").await);
        plane.call(&of_other, Method::GET, "/calendar/events", "READ_CALENDAR").await.expect(200);
    }

    /// AAP-8.2-01, R-23
    async fn of_fifty_writes_that_race_a_revocation_none_is_let_through_after_it(kit) {
        let (plane, _folder) = kit.lasting_plane(Setup::default()).await;
        let scene = Arc::new(AgentFixture::on(plane, &["calendar.read", "calendar.write"]).await);
        let at_200 = Arc::new(AtomicUsize::new(usize::MAX));
        let calls: Vec<_> = (0..50).map(|n| tokio::spawn(race(Arc::clone(&scene), n, Arc::clone(&at_200)))).collect();
        let mut answers = Vec::new();
        for call in calls {
            answers.extend(call.await.unwrap());
        }
        let through = answers.iter().filter(|answer| answer.status == 201).count();
        for refused in answers.iter().filter(|answer| answer.status != 201) {
            assert_cut_off(refused);
        }
        assert_eq!((answers.len(), writes(&scene)), (49, through), "each write that ran was told, and no other");
        assert_eq!(at_200.load(Ordering::SeqCst), through, "nothing was forwarded after the 200");
        let log: Vec<String> =
            stored_evidence(&scene.plane.place).await.into_iter().map(|entry| entry.event_type).collect();
        let end = log.iter().position(|event| event == "delegation_revoked").unwrap();
        let started = |log: &[String]| log.iter().filter(|event| *event == "call_started").count();
        assert_eq!((started(&log[..end]), started(&log[end..])), (through, 0), "{log:?}");
        assert_cut_off(&scene.write().await);
        assert_eq!(writes(&scene), through);
    }
}

/// The twenty-first of them revokes; the others write.
async fn race(scene: Arc<AgentFixture>, n: usize, at_200: Arc<AtomicUsize>) -> Option<Answer> {
    if n == 20 {
        scene.revoke().await.expect(200);
        at_200.store(writes(&scene), Ordering::SeqCst);
        return None;
    }
    // Each is a write of its own: a repeat of one in flight is refused.
    let target = format!("/calendar/events?n={n}");
    Some(scene.plane.call(&scene.agent, Method::POST, &target, "SCHEDULE_EVENT").await)
}

/// AAP-8.2-01, R-23
#[tokio::test]
async fn a_revocation_on_one_node_holds_on_the_other_from_the_200_on() {
    for revoke_at_first in [true, false] {
        let scene = Kit(Backend::Postgres).fixture().await;
        let (engine, public) = scene.plane.second_node().await;
        let (first, second) = (scene.plane.api(), scene.plane.api_of(&engine));
        let (revoker, other) = if revoke_at_first { (&scene.plane.public, &second) } else { (&public, &first) };
        // Both nodes have let this agent through and have cached it.
        for api in [&first, &second] {
            scene.plane.call_at(api, &scene.agent, Method::GET, "/calendar/events", "READ_CALENDAR").await.expect(200);
            scene
                .plane
                .call_at(api, &scene.agent, Method::POST, "/calendar/events", "SCHEDULE_EVENT")
                .await
                .expect(201);
        }
        let body = json!({ "delegation_id": scene.connected.delegation_id }).to_string();
        let request = scene.alice.request(Method::POST, "/agent/revoke").header("x-csrf-token", &scene.alice.csrf);
        let request = request.header("content-type", "application/json").body(Body::from(body)).unwrap();
        send_to(revoker, request).await.expect(200);
        let write = scene.plane.call_at(other, &scene.agent, Method::POST, "/calendar/events", "SCHEDULE_EVENT").await;
        assert_cut_off(&write);
        let read = scene.plane.call_at(other, &scene.agent, Method::GET, "/calendar/events", "READ_CALENDAR").await;
        assert_cut_off(&read);
        assert_eq!(writes(&scene), 2);
    }
}

///
#[tokio::test]
async fn a_read_on_one_node_that_is_cut_off_on_the_other_meanwhile_gets_no_answer() {
    let scene = Arc::new(Kit(Backend::Postgres).fixture().await);
    let (engine, _) = scene.plane.second_node().await;
    let second = scene.plane.api_of(&engine);
    let read =
        async || scene.plane.call_at(&second, &scene.agent, Method::GET, "/calendar/events", "READ_CALENDAR").await;
    read().await.expect(200);
    let cut = Arc::clone(&scene);
    scene.plane.upstream.meanwhile(move || {
        let scene = Arc::clone(&cut);
        async move { drop(scene.revoke().await.expect(200)) }
    });
    assert_cut_off(&read().await);
}
