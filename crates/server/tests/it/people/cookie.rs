//! The cookie: bound to the host, out of reach of scripts, new at each sign-in.

use super::{RIGHT, another_device, browser, enter, holds};
use axum::body::Body;
use countersign_testkit::{Answer, Backend, Kit, Plane, Setup, TestPerson, on_sqlite};
use http::{Method, Request, header};
use serde_json::json;
use std::collections::BTreeSet;

async fn with_cookie(plane: &Plane, cookie: &str) -> Answer {
    plane.send(Request::get("/session").header(header::COOKIE, cookie).body(Body::empty()).unwrap()).await
}

/// Signs in with the browser's existing cookie.
async fn enter_again(plane: &Plane, old: &TestPerson, name: &str) -> TestPerson {
    let request = old.request(Method::POST, "/session").header(header::CONTENT_TYPE, "application/json");
    let body = json!({ "name": name, "password": RIGHT }).to_string();
    browser(name, &plane.send(request.body(Body::from(body)).unwrap()).await.expect(201))
}

fn attributes(answer: &Answer) -> BTreeSet<String> {
    let all: Vec<_> = answer.headers.get_all(header::SET_COOKIE).iter().collect();
    assert_eq!(all.len(), 1, "one cookie");
    all[0].to_str().unwrap().split(';').skip(1).map(|part| part.trim().to_owned()).collect()
}

on_sqlite! {
    ///
    async fn a_browser_that_signs_in_again_gets_another_cookie_and_the_old_one_dies(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        plane.account("bob").await;
        let phone = another_device(&plane, &alice).await;
        let again = enter_again(&plane, &alice, "alice").await;
        assert_ne!((&alice.cookie, &alice.csrf), (&again.cookie, &again.csrf));
        assert!(!holds(&plane, &alice).await && holds(&plane, &again).await);
        let bob = enter_again(&plane, &again, "bob").await;
        assert!(!holds(&plane, &again).await && holds(&plane, &bob).await);
        assert!(holds(&plane, &phone).await, "what other browsers have is theirs");
    }

    ///
    async fn a_cookie_that_the_browser_was_given_before_signing_in_never_becomes_a_session(kit) {
        let plane = kit.plane().await;
        plane.account("alice").await;
        let planted = format!("__Host-countersign=web_{}", "A".repeat(43));
        let body = json!({ "name": "alice", "password": RIGHT }).to_string();
        let request = Request::post("/session").header(header::COOKIE, &planted);
        let request = request.header(header::CONTENT_TYPE, "application/json").body(Body::from(body)).unwrap();
        let entered = plane.send(request).await.expect(201);
        assert_ne!(browser("alice", &entered).cookie, planted);
        assert_eq!(with_cookie(&plane, &planted).await.refusal(), (401, "sign_in_required".into()));
    }

    ///
    async fn a_cookie_that_comes_twice_or_is_not_ours_is_none(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        let bob = plane.person("bob").await;
        let value = alice.cookie.strip_prefix("__Host-countersign=").unwrap();
        let cookies = [
            ("twice the same", format!("{}; {}", alice.cookie, alice.cookie)),
            ("two different ones", format!("{}; {}", alice.cookie, bob.cookie)),
            ("another name", format!("countersign={value}")),
            ("a name that only begins alike", format!("__Host-countersign2={value}")),
            ("one character off", format!("__Host-countersign={}", &value[..value.len() - 1])),
            ("the empty one", "__Host-countersign=".to_owned()),
        ];
        for (what, cookie) in cookies {
            assert_eq!(with_cookie(&plane, &cookie).await.refusal(), (401, "sign_in_required".into()), "{what}");
        }
        let twice = Request::get("/session").header(header::COOKIE, &alice.cookie).header(header::COOKIE, &bob.cookie);
        assert_eq!(plane.send(twice.body(Body::empty()).unwrap()).await.status, 401, "in two headers");
        with_cookie(&plane, &format!("theme=dark; {}; x=1", alice.cookie)).await.expect(200);
    }

    ///
    async fn a_cookie_of_another_installation_is_none_here(kit) {
        let here = kit.plane().await;
        let there = kit.plane_with(Setup { seed: 4711, ..Setup::default() }).await;
        here.account("alice").await;
        let alice = there.person("alice").await;
        assert!(holds(&there, &alice).await);
        assert!(!holds(&here, &alice).await);
    }
}

///
#[tokio::test]
async fn the_cookie_is_for_this_host_alone_over_tls_and_out_of_reach_of_scripts() {
    let plane = Kit(Backend::Sqlite).plane().await;
    plane.account("alice").await;
    let entered = enter(&plane, "alice", RIGHT).await.expect(201);
    let alice = browser("alice", &entered);
    let value = alice.cookie.strip_prefix("__Host-countersign=web_").unwrap();
    assert_eq!(value.len(), 43, "256 bits");
    let wanted = ["HttpOnly", "Max-Age=43200", "Path=/", "SameSite=Lax", "Secure"].map(str::to_owned);
    assert_eq!(attributes(&entered), BTreeSet::from(wanted), "and no Domain");
    assert!(!entered.text().contains(value), "the body never repeats it");

    let fresh = alice.post(&plane, "/session/fresh", &json!({ "password": RIGHT })).await.expect(200);
    assert_eq!(attributes(&fresh), attributes(&entered));
    let alice = browser("alice", &fresh);
    let left = alice.send(&plane, Method::DELETE, "/session", &json!({})).await.expect(204);
    assert!(left.header("set-cookie").unwrap().starts_with("__Host-countersign=;"));
    assert!(attributes(&left).contains("Max-Age=0"));
}
