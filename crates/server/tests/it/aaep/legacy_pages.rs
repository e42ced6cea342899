//! Pages and host names that may use an address with a token in it (R-11).

use super::legacy::{HOST, Legacy, get, post};
use axum::{Router, body::Body};
use countersign_protocol::origin::Origin;
use countersign_server::{config::node::Aaep, router};
use countersign_testkit::{Answer, Plane, on_sqlite};
use http::{HeaderValue, Request};

const PAGE: &str = "https://page.example";

fn with_page(plane: &Plane) -> Router {
    let allowed =
        Aaep { legacy_origins: vec![Origin::parse(PAGE).unwrap()], legacy_hosts: vec!["127.0.0.1:8420".into()] };
    router(plane.app.clone().with_legacy(allowed))
}

fn from(mut request: Request<Body>, origin: &str) -> Request<Body> {
    request.headers_mut().insert("origin", HeaderValue::from_str(origin).unwrap());
    request
}

fn at(mut request: Request<Body>, host: &str) -> Request<Body> {
    request.headers_mut().insert("host", HeaderValue::from_str(host).unwrap());
    request
}

fn preflight(path: &str, origin: &str) -> Request<Body> {
    let request = Request::options(path).header("host", HOST).header("origin", origin);
    request.header("access-control-request-method", "POST").body(Body::empty()).unwrap()
}

on_sqlite! {
    /// R-11
    async fn a_page_elsewhere_is_refused_unless_it_is_listed(kit) {
        let legacy = Legacy::on(kit).await;
        let (events, messages) = (legacy.nvda.legacy("events"), legacy.nvda.legacy("messages"));
        let listed = with_page(&legacy.plane);
        for (node, origin) in [(&legacy.plane.public, PAGE), (&listed, "https://other.example"), (&listed, "null")] {
            for request in [from(get(&events), origin), from(post(&messages, "{}".into()), origin), preflight(&messages, origin)] {
                let answer = Answer::to(node, request).await;
                assert_eq!(answer.refusal(), (403, "csrf_rejected".into()));
                assert_eq!(answer.header("access-control-allow-origin"), None);
            }
        }
    }

    /// R-11
    async fn a_listed_page_may_ask_read_and_send(kit) {
        let legacy = Legacy::on(kit).await;
        let (events, messages) = (legacy.nvda.legacy("events"), legacy.nvda.legacy("messages"));
        let node = with_page(&legacy.plane);
        let asked = Answer::to(&node, preflight(&messages, PAGE)).await.expect(204);
        assert_eq!(asked.header("access-control-allow-origin"), Some(PAGE));
        assert!(asked.header("access-control-allow-headers").unwrap().contains("content-type"));
        assert_eq!(asked.header("access-control-allow-credentials"), None);
        let heard = countersign_testkit::aaep::ReceivedEvents::open(&node, from(get(&events), PAGE)).await;
        assert_eq!(heard.headers["access-control-allow-origin"], PAGE);
        assert_eq!(heard.headers["vary"], "origin");
        let close = r#"{"type":"subscription.close"}"#.to_owned();
        let sent = Answer::to(&node, from(post(&messages, close), PAGE)).await.expect(204);
        assert_eq!(sent.header("access-control-allow-origin"), Some(PAGE));
    }

    /// R-11
    async fn a_name_that_is_not_ours_leads_to_nothing(kit) {
        let legacy = Legacy::on(kit).await;
        let events = legacy.nvda.legacy("events");
        let listed = with_page(&legacy.plane);
        for host in ["evil.example", "api.example.test.evil.example", "127.0.0.1:8420", "evil.api.example.test", ""] {
            assert_eq!(Answer::to(&legacy.plane.public, at(get(&events), host)).await.status, 404, "{host}");
        }
        countersign_testkit::aaep::ReceivedEvents::open(&listed, at(get(&events), "127.0.0.1:8420")).await;
        countersign_testkit::aaep::ReceivedEvents::open(&listed, at(get(&events), "API.example.test")).await;
    }
}
