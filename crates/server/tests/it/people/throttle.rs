//! Guessing is slow, and guesses lock nobody else out: tries are counted before the password
//! is verified, by account and network together, by account, by network, and by sign-in session.

use super::{RIGHT, WRONG, enter, holds};
use axum::{body::Body, extract::ConnectInfo};
use countersign_engine::Throttle;
use countersign_testkit::{Answer, Backend, Kit, Plane, Setup, agent_request, on_both_stores};
use futures_util::future::join_all;
use http::Method;
use serde_json::json;
use std::net::{IpAddr, SocketAddr};

/// Wide limits, except those that `change` narrows.
fn limits(change: impl FnOnce(&mut Throttle)) -> Setup {
    let mut throttle = Throttle::all(1000);
    change(&mut throttle);
    Setup { throttle, ..Setup::default() }
}

fn too_many() -> (u16, String) {
    (429, "too_many_requests".into())
}

async fn enter_from(plane: &Plane, address: &str, name: &str, password: &str) -> Answer {
    enter_by(plane, address, name, password, None).await
}

async fn enter_by(plane: &Plane, address: &str, name: &str, password: &str, forwarded: Option<&str>) -> Answer {
    let mut request = agent_request(Method::POST, "/session");
    if let Some(forwarded) = forwarded {
        request = request.header("x-forwarded-for", forwarded);
    }
    let body = Body::from(json!({ "name": name, "password": password }).to_string());
    let mut request = request.body(body).unwrap();
    let peer: IpAddr = address.parse().unwrap();
    request.extensions_mut().insert(ConnectInfo(SocketAddr::new(peer, 40_000)));
    Answer::to(&plane.public, request).await
}

on_both_stores! {
    ///
    async fn after_so_many_tries_an_account_is_closed_to_that_network_until_its_window_is_over_and_open_to_others(kit) {
        let plane = kit.plane_with(limits(|throttle| throttle.per_account_and_network = 3)).await;
        plane.account("alice").await;
        plane.account("bob").await;
        for _ in 0..3 {
            assert_eq!(enter_from(&plane, "192.0.2.66", "alice", WRONG).await.status, 401);
        }
        let closed = enter_from(&plane, "192.0.2.66", "alice", RIGHT).await;
        assert_eq!((closed.refusal(), closed.header("retry-after")), (too_many(), Some("900")));
        assert!(closed.header("set-cookie").is_none());
        enter_from(&plane, "192.0.2.9", "alice", RIGHT).await.expect(201);
        enter_from(&plane, "192.0.2.66", "bob", RIGHT).await.expect(201);

        plane.advance_secs(899).await;
        let closed = enter_from(&plane, "192.0.2.66", "alice", RIGHT).await;
        assert_eq!((closed.refusal(), closed.header("retry-after")), (too_many(), Some("1")));
        plane.advance_secs(1).await;
        enter_from(&plane, "192.0.2.66", "alice", RIGHT).await.expect(201);
    }

    /// guesses from everywhere are bounded together, and do not shut out the network that a person uses.
    async fn guesses_from_many_networks_are_bounded_by_account_and_do_not_close_the_networks_it_is_known_from(kit) {
        let plane = kit.plane_with(limits(|throttle| throttle.per_account = 5)).await;
        plane.account("alice").await;
        enter_from(&plane, "192.0.2.9", "alice", RIGHT).await.expect(201);
        let mut statuses = Vec::new();
        for n in 0..8 {
            statuses.push(enter_from(&plane, &format!("198.51.100.{n}"), "alice", WRONG).await.status);
        }
        // The first sign-in counted as a try as well: its network was not known yet.
        assert_eq!(statuses, [401, 401, 401, 401, 429, 429, 429, 429]);
        let closed = enter_from(&plane, "203.0.113.1", "alice", RIGHT).await;
        assert_eq!((closed.refusal(), closed.header("retry-after")), (too_many(), Some("3600")));
        enter_from(&plane, "192.0.2.9", "alice", RIGHT).await.expect(201);
        plane.advance_secs(3600).await;
        enter_from(&plane, "203.0.113.1", "alice", RIGHT).await.expect(201);
    }

    /// neither a refusal nor its timing tells a stranger in the same network which names are accounts there.
    async fn once_the_slow_cap_is_used_up_a_known_network_gets_the_same_answer_for_every_name(kit) {
        let narrow = |throttle: &mut Throttle| {
            throttle.per_account = 5;
            throttle.per_account_and_network = 4;
            throttle.per_address = 12;
        };
        let mut told = Vec::new();
        for target in ["alice", "nobody"] {
            let plane = kit.plane_with(limits(narrow)).await;
            plane.account("alice").await;
            enter_from(&plane, "192.0.2.9", "alice", RIGHT).await.expect(201);
            plane.advance_secs(3600).await;
            for n in 0..4 {
                enter_from(&plane, &format!("198.51.100.{n}"), target, WRONG).await.expect(401);
            }
            let mut answers = Vec::new();
            for name in [target; 6].into_iter().chain(["somebody"; 10]) {
                let answer = enter_from(&plane, "192.0.2.9", name, WRONG).await;
                let retry_after = answer.header("retry-after").map(str::to_owned);
                answers.push((answer.status, retry_after, answer.json()["error"]["message"].clone()));
            }
            told.push(answers);
            if target == "alice" {
                assert_eq!(enter_from(&plane, "203.0.113.1", "alice", RIGHT).await.refusal(), too_many());
                plane.advance_secs(900).await;
                assert_eq!(enter_from(&plane, "203.0.113.1", "alice", RIGHT).await.refusal(), too_many());
                enter_from(&plane, "192.0.2.9", "alice", RIGHT).await.expect(201);
            }
        }
        assert_eq!(told[0], told[1]);
        assert_eq!(told[0].iter().filter(|(status, ..)| *status == 429).count(), 11, "{told:?}");
    }

    /// for as long as the guesses continue.
    async fn a_signed_in_person_proves_presence_despite_guesses_from_anywhere(kit) {
        let plane = kit.plane_with(Setup { throttle: Throttle::default(), ..Setup::default() }).await;
        let alice = plane.person("alice").await;
        for n in 0..200 {
            enter_from(&plane, &format!("198.51.100.{}", n % 20), "alice", WRONG).await;
        }
        // The same network too, until it is closed.
        for _ in 0..Throttle::default().per_account_and_network {
            enter(&plane, "alice", WRONG).await;
        }
        assert_eq!(enter(&plane, "alice", RIGHT).await.refusal(), too_many());
        assert_eq!(enter_from(&plane, "203.0.113.1", "alice", RIGHT).await.refusal(), too_many());
        alice.post(&plane, "/session/fresh", &json!({ "password": RIGHT })).await.expect(200);
    }

    ///
    async fn a_name_that_nobody_has_is_closed_just_the_same(kit) {
        let plane = kit.plane_with(limits(|throttle| throttle.per_account_and_network = 3)).await;
        for _ in 0..3 {
            assert_eq!(enter(&plane, "nobody", WRONG).await.status, 401);
        }
        let closed = enter(&plane, "nobody", WRONG).await;
        assert_eq!((closed.refusal(), closed.header("retry-after")), (too_many(), Some("900")));
        let plane = kit.plane_with(limits(|throttle| throttle.per_account = 3)).await;
        for n in 0..3 {
            assert_eq!(enter_from(&plane, &format!("192.0.2.{n}"), "nobody", WRONG).await.status, 401);
        }
        let closed = enter_from(&plane, "192.0.2.9", "nobody", WRONG).await;
        assert_eq!((closed.refusal(), closed.header("retry-after")), (too_many(), Some("3600")));
    }

    ///
    async fn an_address_that_tries_many_names_is_closed_and_others_are_not(kit) {
        let plane = kit.plane_with(limits(|throttle| throttle.per_address = 4)).await;
        plane.account("alice").await;
        for n in 0..4 {
            assert_eq!(enter(&plane, &format!("name-{n}"), WRONG).await.status, 401);
        }
        let closed = enter(&plane, "alice", RIGHT).await;
        assert_eq!((closed.refusal(), closed.header("retry-after")), (too_many(), Some("900")));
        assert_eq!(enter_from(&plane, "192.0.2.9", "alice", WRONG).await.status, 401);
        plane.advance_secs(900).await;
        enter(&plane, "alice", RIGHT).await.expect(201);
    }

    ///
    async fn of_a_hundred_guesses_at_once_no_more_are_tried_than_the_limit(kit) {
        let plane = kit.plane_with(limits(|throttle| throttle.per_account_and_network = 10)).await;
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

    /// the thief of a session guesses no faster, and locks only that session.
    async fn proving_presence_again_is_no_way_round_the_limit(kit) {
        let plane = kit.plane_with(limits(|throttle| throttle.per_session = 2)).await;
        let alice = plane.person("alice").await;
        for _ in 0..2 {
            let answer = alice.post(&plane, "/session/fresh", &json!({ "password": WRONG })).await;
            assert_eq!(answer.refusal(), (401, "sign_in_failed".into()));
        }
        let answer = alice.post(&plane, "/session/fresh", &json!({ "password": RIGHT })).await;
        assert_eq!((answer.refusal(), answer.header("retry-after")), (too_many(), Some("900")));
        let by_name = json!({ "name": "alice", "password": RIGHT });
        assert_eq!(alice.post(&plane, "/session", &by_name).await.refusal(), too_many());
        assert!(holds(&plane, &alice).await, "the session itself goes on");
        enter(&plane, "alice", RIGHT).await.expect(201);
    }

    /// a session of one's own gives no tries at other accounts.
    async fn a_session_gives_no_tries_at_another_account(kit) {
        let plane = kit.plane_with(limits(|throttle| throttle.per_account_and_network = 3)).await;
        let mallory = plane.person("mallory").await;
        plane.account("alice").await;
        let guess = json!({ "name": "alice", "password": WRONG });
        for _ in 0..3 {
            assert_eq!(mallory.post(&plane, "/session", &guess).await.status, 401);
        }
        assert_eq!(mallory.post(&plane, "/session", &guess).await.refusal(), too_many());
        assert_eq!(enter(&plane, "alice", WRONG).await.refusal(), too_many());
    }
}

///
#[tokio::test]
async fn an_address_cannot_become_another_by_saying_so_or_within_its_own_network() {
    let plane = Kit(Backend::Sqlite).plane_with(limits(|throttle| throttle.per_address = 3)).await;
    for n in 0..3 {
        let forwarded = format!("198.51.100.{n}");
        assert_eq!(enter_by(&plane, "192.0.2.1", "alice", WRONG, Some(&forwarded)).await.status, 401);
        assert_eq!(enter_from(&plane, &format!("2001:db8:1:2::{n}"), "alice", WRONG).await.status, 401);
    }
    assert_eq!(enter_by(&plane, "192.0.2.1", "alice", WRONG, Some("198.51.100.99")).await.refusal(), too_many());
    assert_eq!(enter_from(&plane, "::ffff:192.0.2.1", "alice", WRONG).await.refusal(), too_many());
    assert_eq!(enter_from(&plane, "2001:db8:1:2:ffff::1", "alice", WRONG).await.refusal(), too_many());
    assert_eq!(enter_from(&plane, "2001:db8:1:3::1", "alice", WRONG).await.status, 401);
}

/// the database counts, so it is one count for all nodes.
#[tokio::test]
async fn two_nodes_do_not_give_twice_as_many_tries() {
    let plane = Kit(Backend::Postgres).plane_with(limits(|throttle| throttle.per_account_and_network = 4)).await;
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
