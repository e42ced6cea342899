//! Guessing is slow: so many tries an account and an address, counted before the password is looked at.

use super::{RIGHT, WRONG, enter, holds};
use axum::{body::Body, extract::ConnectInfo};
use countersign_engine::Throttle;
use countersign_testkit::{Answer, Backend, Kit, Plane, Setup, agent_request, on_both_stores};
use futures_util::future::join_all;
use http::Method;
use serde_json::json;
use std::net::{IpAddr, SocketAddr};

fn limits(per_account: i64, per_address: i64) -> Setup {
    Setup { throttle: Throttle { per_account, per_address }, ..Setup::default() }
}

fn too_many() -> (u16, String) {
    (429, "too_many_requests".into())
}

async fn enter_from(plane: &Plane, address: &str, name: &str, forwarded: Option<&str>) -> Answer {
    let mut request = agent_request(Method::POST, "/session");
    if let Some(forwarded) = forwarded {
        request = request.header("x-forwarded-for", forwarded);
    }
    let body = Body::from(json!({ "name": name, "password": WRONG }).to_string());
    let mut request = request.body(body).unwrap();
    let peer: IpAddr = address.parse().unwrap();
    request.extensions_mut().insert(ConnectInfo(SocketAddr::new(peer, 40_000)));
    Answer::to(&plane.public, request).await
}

on_both_stores! {
    ///
    async fn after_so_many_tries_an_account_is_closed_for_everyone_until_its_window_is_over(kit) {
        let plane = kit.plane_with(limits(3, 1000)).await;
        plane.account("alice").await;
        plane.account("bob").await;
        for _ in 0..3 {
            assert_eq!(enter(&plane, "alice", WRONG).await.status, 401);
        }
        let closed = enter(&plane, "alice", RIGHT).await;
        assert_eq!((closed.refusal(), closed.header("retry-after")), (too_many(), Some("900")));
        assert!(closed.header("set-cookie").is_none());
        assert_eq!(enter_from(&plane, "192.0.2.9", "alice", None).await.refusal(), too_many());
        enter(&plane, "bob", RIGHT).await.expect(201);

        plane.advance_secs(899).await;
        let closed = enter(&plane, "alice", RIGHT).await;
        assert_eq!((closed.refusal(), closed.header("retry-after")), (too_many(), Some("1")));
        plane.advance_secs(1).await;
        enter(&plane, "alice", RIGHT).await.expect(201);
    }

    ///
    async fn a_name_that_nobody_has_is_closed_just_the_same(kit) {
        let plane = kit.plane_with(limits(3, 1000)).await;
        for _ in 0..3 {
            assert_eq!(enter(&plane, "nobody", WRONG).await.status, 401);
        }
        assert_eq!(enter(&plane, "nobody", WRONG).await.refusal(), too_many());
    }

    ///
    async fn an_address_that_tries_many_names_is_closed_and_others_are_not(kit) {
        let plane = kit.plane_with(limits(1000, 4)).await;
        plane.account("alice").await;
        for n in 0..4 {
            assert_eq!(enter(&plane, &format!("name-{n}"), WRONG).await.status, 401);
        }
        let closed = enter(&plane, "alice", RIGHT).await;
        assert_eq!((closed.refusal(), closed.header("retry-after")), (too_many(), Some("900")));
        assert_eq!(enter_from(&plane, "192.0.2.9", "alice", None).await.status, 401);
        plane.advance_secs(900).await;
        enter(&plane, "alice", RIGHT).await.expect(201);
    }

    ///
    async fn of_a_hundred_guesses_at_once_no_more_are_tried_than_the_limit(kit) {
        let plane = kit.plane_with(limits(10, 1000)).await;
        plane.account("alice").await;
        let guesses = join_all((0..100).map(|n| {
            let (plane, guess) = (&plane, format!("guess number {n}"));
            async move { enter(plane, "alice", &guess).await.status }
        }));
        let statuses = guesses.await;
        let tried = statuses.iter().filter(|status| **status == 401).count();
        let closed = statuses.iter().filter(|status| **status == 429).count();
        assert_eq!((tried, closed), (10, 90));
        assert_eq!(enter(&plane, "alice", RIGHT).await.refusal(), too_many());
    }

    ///
    async fn proving_presence_again_is_no_way_round_the_limit(kit) {
        let plane = kit.plane_with(limits(3, 1000)).await;
        let alice = plane.person("alice").await;
        for _ in 0..2 {
            let answer = alice.post(&plane, "/session/fresh", &json!({ "password": WRONG })).await;
            assert_eq!(answer.refusal(), (401, "sign_in_failed".into()));
        }
        let answer = alice.post(&plane, "/session/fresh", &json!({ "password": RIGHT })).await;
        assert_eq!(answer.refusal(), too_many());
        assert!(holds(&plane, &alice).await, "the session itself goes on");
    }
}

///
#[tokio::test]
async fn an_address_cannot_become_another_by_saying_so_or_within_its_own_network() {
    let plane = Kit(Backend::Sqlite).plane_with(limits(1000, 3)).await;
    for n in 0..3 {
        let forwarded = format!("198.51.100.{n}");
        assert_eq!(enter_from(&plane, "192.0.2.1", "alice", Some(&forwarded)).await.status, 401);
        assert_eq!(enter_from(&plane, &format!("2001:db8:1:2::{n}"), "alice", None).await.status, 401);
    }
    assert_eq!(enter_from(&plane, "192.0.2.1", "alice", Some("198.51.100.99")).await.refusal(), too_many());
    assert_eq!(enter_from(&plane, "::ffff:192.0.2.1", "alice", None).await.refusal(), too_many());
    assert_eq!(enter_from(&plane, "2001:db8:1:2:ffff::1", "alice", None).await.refusal(), too_many());
    assert_eq!(enter_from(&plane, "2001:db8:1:3::1", "alice", None).await.status, 401);
}

/// the count is the database's, so it is one count for all nodes.
#[tokio::test]
async fn two_nodes_do_not_give_twice_as_many_tries() {
    let plane = Kit(Backend::Postgres).plane_with(limits(4, 1000)).await;
    plane.account("alice").await;
    let (_engine, second) = plane.second_node().await;
    let mut statuses = Vec::new();
    for _ in 0..3 {
        statuses.push(enter(&plane, "alice", WRONG).await.status);
        let body = json!({ "name": "alice", "password": WRONG }).to_string();
        let request = agent_request(Method::POST, "/session").body(Body::from(body)).unwrap();
        statuses.push(countersign_testkit::send_to(&second, request).await.status);
    }
    assert_eq!(statuses, [401, 401, 401, 401, 429, 429]);
}
