//! The data that passes in both directions, and nothing else.

use crate::proxy_fixture::{closing, proxy, proxy_with, read_to_end, refused, status};
use countersign_gateway::UpstreamCredential;
use http::{HeaderName, HeaderValue};
use tokio::io::AsyncWriteExt as _;

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Own: yes\r\nX-Agent-Revoke-Reason: made up\r\n\r\nok";

///
#[tokio::test]
async fn the_upstream_gets_its_own_host_credential_and_a_statement_and_nothing_of_the_agents() {
    let proxy = proxy_with(
        |_| OK.into(),
        |document| {
            document.upstreams[0].credential = Some("bank".into());
            document.routes[0].headers = vec!["x-branch".into()];
        },
        |settings| {
            let secret = HeaderValue::from_static("s3cret");
            let credential = UpstreamCredential::new(HeaderName::from_static("x-api-key"), secret);
            settings.credentials.insert("bank".into(), credential);
        },
    )
    .await;
    let more = "Cookie: a=b\r\nX-Forwarded-For: 10.0.0.1\r\nX-HTTP-Method-Override: DELETE\r\nX-Branch: 7\r\n\
                Countersign-Identity: made up\r\nAccept-Encoding: gzip\r\n";
    let answer = proxy.ask(&proxy.head("GET /calendar/events?a=%2F&b", "READ_CALENDAR", more)).await;
    assert_eq!(status(&answer), 200);
    let seen = proxy.seen();
    let mut lines: Vec<&str> = seen[0].trim_end().split("\r\n").collect();
    assert_eq!(lines.remove(0), "GET /calendar/events?a=%2F&b HTTP/1.1");
    lines.sort_unstable();
    let [identity, host, key, branch] = lines[..] else { panic!("{lines:?}") };
    assert!(identity.starts_with("countersign-identity: ey"), "{identity}");
    assert!(host.starts_with("host: 127.0.0.1:"), "{host}");
    assert_eq!((key, branch), ("x-api-key: s3cret", "x-branch: 7"));
}

#[tokio::test]
async fn two_requests_on_one_connection_are_two_calls_on_one_connection_behind() {
    let proxy = proxy(|_| OK.into()).await;
    let mut stream = proxy.connect().await;
    let (first, second) = (proxy.read(), closing(&proxy.read()));
    stream.write_all(format!("{first}{second}").as_bytes()).await.unwrap();
    let answers = read_to_end(&mut stream).await;
    assert_eq!(answers.matches("HTTP/1.1 200 OK").count(), 2, "{answers}");
    assert_eq!(proxy.seen().len(), 2);
}

///
#[tokio::test]
async fn a_body_reaches_the_upstream_as_it_came_however_long_it_is() {
    let proxy = proxy(|_| "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n".into()).await;
    for length in [0, 9, 64 * 1024, 64 * 1024 + 1, 700_000] {
        let body = "x".repeat(length);
        let answer = proxy.ask(&proxy.write(&body)).await;
        assert_eq!(status(&answer), 201, "{answer}");
        let seen = proxy.seen().pop().unwrap();
        assert!(seen.ends_with(&format!("\r\n\r\n{body}")), "{length}");
        assert!(seen.contains("content-type: application/json"), "{length}");
    }
    let more = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n";
    let chunked =
        proxy.head("POST /calendar/events", "SCHEDULE_EVENT", more) + "3\r\n{\"a\r\n4\r\n\":1}\r\n0\r\nX-T: 1\r\n\r\n";
    assert_eq!(status(&proxy.ask(&chunked).await), 201);
    let seen = proxy.seen().pop().unwrap();
    assert!(seen.contains("content-length: 7\r\n") && seen.ends_with("\r\n\r\n{\"a\":1}"), "{seen}");
}

#[tokio::test]
async fn a_body_over_the_routes_limit_is_refused_before_anything_is_forwarded() {
    let small = |document: &mut countersign_protocol::project::ProjectDocument| {
        document.routes[2].max_body_bytes = Some(8);
    };
    let proxy = proxy_with(|_| OK.into(), small, |_| ()).await;
    assert_eq!(refused(&proxy.ask(&proxy.write("123456789")).await), (413, "payload_too_large".into()));
    let more = "Transfer-Encoding: chunked\r\n";
    let chunked = proxy.head("POST /calendar/events", "SCHEDULE_EVENT", more) + "9\r\n123456789\r\n0\r\n\r\n";
    assert_eq!(refused(&proxy.ask(&chunked).await), (413, "payload_too_large".into()));
    assert!(proxy.seen().is_empty());
}

#[tokio::test]
async fn an_answer_without_a_length_passes_to_its_end() {
    let proxy = proxy(|_| "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n".into()).await;
    let answer = proxy.ask(&proxy.read()).await;
    assert!(answer.ends_with("2\r\nok\r\n0\r\n\r\n"), "{answer}");
}
