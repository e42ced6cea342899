//! A single exchange: refused, aborted and sent requests.

use crate::{
    fixture::{DOMAIN, fetcher},
    operator_host::{Answer, OperatorHost, TestCa},
};
use countersign_outbound::{FetchError, Fetcher, FetcherConfig, RecentFetches, Request, target::BadUrl};
use http::{Method, StatusCode};
use std::{sync::Arc, time::Duration};
use tokio::time::timeout;

const URL: &str = "https://acme.test/doc.json";

async fn host() -> (TestCa, OperatorHost) {
    let ca = TestCa::new();
    let host = OperatorHost::start(&ca, DOMAIN).await;
    host.set_document("/doc.json", "{}");
    (ca, host)
}

/// AAP-4.1-08
#[tokio::test]
async fn a_url_without_https_or_with_another_port_is_not_even_begun() {
    let (ca, host) = host().await;
    let asked = Arc::new(RecentFetches::with_room_for(10));
    let fetcher = fetcher(&ca, &host).with_log(asked.clone());
    assert_eq!(fetcher.get_json("http://acme.test/doc.json").await, Err(BadUrl::NotHttps.into()));
    assert_eq!(fetcher.get_json("https://acme.test:8443/doc.json").await, Err(BadUrl::OtherPort.into()));
    assert_eq!(fetcher.get_json("https://127.0.0.1/doc.json").await, Err(BadUrl::IpLiteral.into()));
    assert_eq!((asked.urls().len(), host.fetches().len()), (0, 0));
}

/// AAP-4.1-08
#[tokio::test]
async fn a_redirect_is_a_failure_and_not_followed() {
    let (ca, host) = host().await;
    host.set_answer("/doc.json", Answer::redirect("https://acme.test/other.json"));
    host.set_document("/other.json", "{}");
    let fetched = fetcher(&ca, &host).get_json(URL).await;
    assert_eq!(fetched, Err(FetchError::Redirect(302)));
    assert_eq!(host.fetches(), ["/doc.json"]);
}

/// AAP-4.1-08
#[tokio::test]
async fn one_byte_beyond_64_kib_is_too_much() {
    let (ca, host) = host().await;
    let fetcher = fetcher(&ca, &host);
    host.set_document("/doc.json", vec![b' '; 64 * 1024 + 1]);
    assert_eq!(fetcher.get_json(URL).await, Err(FetchError::TooLarge { cap: 65_536, status: 200 }));
    host.set_document("/doc.json", vec![b' '; 64 * 1024]);
    assert_eq!(fetcher.get_json(URL).await.unwrap().len(), 65_536);
}

/// AAP-4.1-08
#[tokio::test]
async fn a_server_that_does_not_answer_is_given_up_on_after_five_seconds() {
    let (ca, host) = host().await;
    host.stall();
    let fetcher = fetcher(&ca, &host);
    let mut fetch = tokio::spawn(async move { fetcher.get_json(URL).await });
    host.wait_for_requests(1).await;
    // A paused clock advances only while all tasks are idle, and then at once.
    tokio::time::pause();
    assert!(timeout(Duration::from_secs(4), &mut fetch).await.is_err());
    let given_up = timeout(Duration::from_secs(1), fetch).await.unwrap().unwrap();
    assert_eq!(given_up, Err(FetchError::TimedOut));
}

#[tokio::test]
async fn a_certificate_for_another_name_is_not_accepted() {
    let (ca, host) = host().await;
    let fetched = fetcher(&ca, &host).get_json("https://stranger.test/doc.json").await;
    assert_eq!(fetched, Err(FetchError::Tls));
    assert!(host.fetches().is_empty());
}

#[tokio::test]
async fn a_certificate_of_an_unknown_authority_is_not_accepted() {
    let (_, host) = host().await;
    assert_eq!(fetcher(&TestCa::new(), &host).get_json(URL).await, Err(FetchError::Tls));
    assert!(host.fetches().is_empty());
}

#[tokio::test]
async fn a_server_that_hangs_up_or_is_not_there_is_a_failure() {
    let (ca, host) = host().await;
    host.go_offline();
    assert_eq!(fetcher(&ca, &host).get_json(URL).await, Err(FetchError::Tls));

    // Bound but not listening, so that no other process takes the port.
    let nobody = tokio::net::TcpSocket::new_v4().unwrap();
    nobody.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let static_hosts = [(DOMAIN.to_owned(), nobody.local_addr().unwrap())].into();
    let config = FetcherConfig { static_hosts, native_roots: false, ..FetcherConfig::default() };
    assert_eq!(Fetcher::new(config).unwrap().get_json(URL).await, Err(FetchError::Connect));
}

#[tokio::test]
async fn only_bodies_labelled_as_json_are_read_as_json() {
    let (ca, host) = host().await;
    let fetcher = fetcher(&ca, &host);
    for label in ["text/html", "application/jsonp", "text/json+html", ""] {
        host.set_answer("/doc.json", Answer::new(StatusCode::OK, &[("content-type", label)], "{}"));
        assert_eq!(fetcher.get_json(URL).await, Err(FetchError::NotJson), "{label}");
    }
    for label in ["application/json; charset=utf-8", "Application/JSON", "application/jwk-set+json"] {
        host.set_answer("/doc.json", Answer::new(StatusCode::OK, &[("content-type", label)], "{}"));
        assert_eq!(fetcher.get_json(URL).await.unwrap(), "{}", "{label}");
    }
}

#[tokio::test]
async fn a_status_other_than_200_is_reported() {
    let (ca, host) = host().await;
    let fetcher = fetcher(&ca, &host);
    for status in [StatusCode::NO_CONTENT, StatusCode::NOT_FOUND, StatusCode::BAD_GATEWAY] {
        host.set_answer("/doc.json", Answer::status(status));
        assert_eq!(fetcher.get_json(URL).await, Err(FetchError::Status(status.as_u16())));
    }
    host.set_answer("/doc.json", Answer::new(StatusCode::BAD_GATEWAY, &[], vec![b' '; 70_000]));
    assert_eq!(fetcher.get_json(URL).await, Err(FetchError::Status(502)));
}

#[tokio::test]
async fn a_get_carries_host_path_and_accept_and_nothing_else() {
    let (ca, host) = host().await;
    host.set_document("/doc.json?a=b", "{}");
    fetcher(&ca, &host).get_json("https://acme.test/doc.json?a=b#c").await.unwrap();
    let received = host.received().remove(0);
    assert_eq!((received.method, received.path.as_str()), (Method::GET, "/doc.json?a=b"));
    assert_eq!(received.headers["host"], DOMAIN);
    assert_eq!(received.headers["accept"], "application/json");
    assert_eq!(received.headers.len(), 2);
}

#[tokio::test]
async fn a_post_sends_its_body_and_returns_any_response() {
    let (ca, host) = host().await;
    host.set_answer("/hook", Answer::new(StatusCode::CONFLICT, &[("x-told", "yes")], "no"));
    let mut request = Request::post_json("https://acme.test/hook", r#"{"event":"x"}"#);
    request.answer_cap = 2;
    let answer = fetcher(&ca, &host).request(request.clone()).await.unwrap();
    assert_eq!(
        (answer.status, &answer.headers["x-told"], &answer.body[..]),
        (StatusCode::CONFLICT, &"yes".parse().unwrap(), &b"no"[..])
    );
    let received = host.received().remove(0);
    assert_eq!((received.method, &received.body[..]), (Method::POST, &br#"{"event":"x"}"#[..]));
    assert_eq!(received.headers["content-type"], "application/json");

    request.answer_cap = 1;
    let answer = fetcher(&ca, &host).request(request).await;
    assert_eq!(answer.unwrap_err(), FetchError::TooLarge { cap: 1, status: 409 });
}

#[test]
fn extra_roots_that_are_no_certificates_stop_the_start() {
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let config = FetcherConfig { extra_roots_pem: broken.into(), native_roots: false, ..FetcherConfig::default() };
    assert!(Fetcher::new(config).is_err());
}
