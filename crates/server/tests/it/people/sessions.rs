//! The lifetime of a sign-in, and every way to end it.

use super::{RIGHT, another_device, enter, holds};
use axum::body::Body;
use countersign_testkit::{Backend, Kit, TestPerson, on_both_stores, send_to};
use http::{Method, Request, header};
use serde_json::json;

on_both_stores! {
    ///
    async fn signing_out_ends_this_sign_in_and_no_other(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        let phone = another_device(&plane, &alice).await;
        alice.send(&plane, Method::DELETE, "/session", &json!({})).await.expect(204);
        assert!(!holds(&plane, &alice).await && holds(&plane, &phone).await);
        let again = alice.send(&plane, Method::DELETE, "/session", &json!({})).await;
        assert_eq!(again.refusal(), (401, "sign_in_required".into()));
    }

    ///
    async fn signing_out_everywhere_ends_every_sign_in_of_this_person_at_once(kit) {
        let plane = kit.plane().await;
        let (alice, bob) = (plane.person("alice").await, plane.person("bob").await);
        let phone = another_device(&plane, &alice).await;
        alice.send(&plane, Method::DELETE, "/session/everywhere", &json!({})).await.expect(204);
        assert!(!holds(&plane, &alice).await && !holds(&plane, &phone).await);
        assert!(holds(&plane, &bob).await);
        let revoke = phone.post(&plane, "/agent/revoke", &json!({ "delegation_id": "del_0000000000" })).await;
        assert_eq!(revoke.refusal(), (401, "agent_auth_required".into()));
        // She may sign in again at the same moment.
        let back = TestPerson::sign_in(&plane, "alice").await;
        assert!(holds(&plane, &back).await && !holds(&plane, &phone).await);
    }

    ///
    async fn a_sign_in_ends_by_itself_to_the_second_however_often_it_is_used(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        let told = alice.get(&plane, "/session").await.expect(200).json();
        assert_eq!(told["expires_at"], plane.now().plus_secs(12 * 3600).to_rfc3339());
        plane.advance_secs(6 * 3600).await;
        assert!(holds(&plane, &alice).await);
        plane.advance_secs(6 * 3600 - 1).await;
        assert!(holds(&plane, &alice).await);
        plane.advance_secs(1).await;
        assert!(!holds(&plane, &alice).await);
        plane.engine.run_maintenance().await.unwrap();
        assert!(!holds(&plane, &alice).await);
    }

    ///
    async fn a_sign_in_survives_a_restart_and_an_ended_one_does_not(kit) {
        let (place, _folder) = kit.readable_location().await;
        let plane = countersign_testkit::Plane::start(countersign_testkit::Setup::default(), place).await;
        let alice = plane.person("alice").await;
        let phone = another_device(&plane, &alice).await;
        phone.send(&plane, Method::DELETE, "/session", &json!({})).await.expect(204);
        let plane = plane.restart().await;
        assert!(holds(&plane, &alice).await && !holds(&plane, &phone).await);
        let revoke = alice.post(&plane, "/agent/revoke", &json!({ "delegation_id": "del_0000000000" })).await;
        assert_eq!(revoke.refusal(), (401, "delegation_not_found".into()), "her CSRF token holds too");
    }

    ///
    async fn nobody_reads_anything_without_a_sign_in(kit) {
        let plane = kit.plane().await;
        for (method, path) in [
            (Method::GET, "/session"),
            (Method::DELETE, "/session"),
            (Method::DELETE, "/session/everywhere"),
            (Method::GET, "/v1/agents"),
        ] {
            let request = Request::builder().method(method.clone()).uri(path).body(Body::empty()).unwrap();
            assert_eq!(plane.send(request).await.refusal(), (401, "sign_in_required".into()), "{method} {path}");
        }
        let answer = plane.get("/v1/project").await;
        assert_eq!(answer.refusal(), (401, "agent_auth_required".into()));
    }

    ///
    async fn a_signed_in_person_sees_their_session_and_only_their_own_agents(kit) {
        let plane = kit.plane().await;
        let (alice, bob) = (plane.person("alice").await, plane.person("bob").await);
        let connected = plane.connect(&alice, plane.acme(), &["calendar.read"]).await;
        let told = alice.get(&plane, "/session").await.expect(200).json();
        assert_eq!((&told["name"], &told["platform_admin"]), (&json!("alice"), &json!(false)));
        assert_eq!(told["csrf_token"], alice.csrf);
        let hers = alice.get(&plane, "/v1/agents").await.expect(200).json();
        assert_eq!(hers["agents"][0]["delegation_id"], connected.delegation_id);
        assert_eq!(bob.get(&plane, "/v1/agents").await.expect(200).json(), json!({ "agents": [] }));
    }
}

///
#[tokio::test]
async fn a_sign_in_session_ended_on_one_node_is_ended_on_the_other() {
    let plane = Kit(Backend::Postgres).plane().await;
    let (_engine, second) = plane.second_node().await;
    let there = async |person: &TestPerson| {
        let request = Request::get("/session").header(header::COOKIE, &person.cookie).body(Body::empty()).unwrap();
        send_to(&second, request).await.status
    };
    let alice = plane.person("alice").await;
    let phone = another_device(&plane, &alice).await;
    let tablet = another_device(&plane, &alice).await;
    assert_eq!((there(&alice).await, there(&phone).await), (200, 200));
    phone.send(&plane, Method::DELETE, "/session", &json!({})).await.expect(204);
    assert_eq!((there(&alice).await, there(&phone).await), (200, 401));

    // Her token is valid on the other node, and its changes apply here.
    let request = alice.request(Method::DELETE, "/session/everywhere").header("x-csrf-token", &alice.csrf);
    assert_eq!(send_to(&second, request.body(Body::empty()).unwrap()).await.status, 204);
    for person in [&alice, &tablet] {
        assert_eq!((holds(&plane, person).await, there(person).await), (false, 401));
    }
    enter(&plane, "alice", RIGHT).await.expect(201);
}

///
#[tokio::test]
async fn a_sign_in_under_a_clock_that_was_ahead_ends_with_the_others() {
    let plane = Kit(Backend::Sqlite).plane().await;
    let alice = plane.person("alice").await;
    let now = plane.now();
    plane.clock.advance_millis(800);
    let ahead = another_device(&plane, &alice).await;
    plane.clock.set(now);
    alice.send(&plane, Method::DELETE, "/session/everywhere", &json!({})).await.expect(204);
    assert!(!holds(&plane, &ahead).await && !holds(&plane, &alice).await);
}
