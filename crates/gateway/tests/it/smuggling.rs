//! Requests can be smuggled where two parsers disagree about the end of a request. Here all of them agree.

use crate::{
    peer::{Peer, idempotent_writes, proxy_to, proxy_to_with, rest, until},
    proxy_fixture::{HOST, ProxyFixture, proxy, proxy_with, refused, status},
};
use countersign_protocol::project::RouteStream;
use tokio::io::AsyncWriteExt as _;

const CREATED: &str = "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n";

fn posting(proxy: &ProxyFixture, more: &str) -> String {
    proxy.head("POST /calendar/events", "SCHEDULE_EVENT", &format!("Content-Type: text/plain\r\n{more}"))
}

#[tokio::test]
async fn a_length_that_can_be_read_in_two_ways_hides_no_second_request() {
    let proxy = proxy(|_| panic!("nothing may get here")).await;
    let hidden = proxy.read();
    for more in [
        "Content-Length: 0, 4\r\n",
        "Content-Length: +0\r\n",
        "Content-Length: 0x0\r\n",
        "Content-Length: \r\n",
        "Content-Length: 0\r\nContent-length: 0\r\n",
        "Content-Length: -1\r\n",
        "Content-Length: 99999999999999999999\r\n",
        "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding: chunked, chunked\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
        "Transfer-Encoding: \"chunked\"\r\n",
        "Transfer-Encoding: \u{b}chunked\r\n",
        "Transfer-Encoding: chunked\0\r\n",
        "Transfer-Encoding:\r\n chunked\r\n",
        "X: y\r\n\tTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding : chunked\r\n",
        "\tTransfer-Encoding: chunked\r\n",
        "X: y\rTransfer-Encoding: chunked\r\n",
        "X: y\nTransfer-Encoding: chunked\r\n",
        "X: y\n\r\n",
        "X: y\r\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer\u{a0}Encoding: chunked\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        "Content-Length: 4\r\nContent-Length: 5\r\n",
        "X-A: b\r\n Content-Length: 4\r\n",
        "Content-Length : 4\r\n",
        "Expect: something\r\n",
        "Upgrade: h2c\r\nConnection: Upgrade\r\n",
    ] {
        let answer = proxy.exchange(&format!("{}0\r\n\r\n{hidden}", posting(&proxy, more))).await;
        assert_eq!(refused(&answer), (400, "invalid_request".into()), "{more:?}");
    }
    for request in [
        proxy.head("GET /calendar/events", "READ_CALENDAR", "Content-Length: 2\r\n") + "{}",
        "nonsense\r\n\r\n".to_owned(),
        format!("GET /calendar/events HTTP/1.1\nHost: {HOST}\n\n"),
    ] {
        assert_eq!(refused(&proxy.ask(&request).await), (400, "invalid_request".into()), "{request}");
    }
    let old = posting(&proxy, "Transfer-Encoding: chunked\r\n").replacen("HTTP/1.1", "HTTP/1.0", 1);
    assert_eq!(status(&proxy.exchange(&format!("{old}0\r\n\r\n{hidden}")).await), 400);
    assert!(proxy.seen().is_empty());
}

/// The largest length overflows in some parsers.
#[tokio::test]
async fn a_length_at_the_limit_is_reported_in_the_envelope() {
    let small = |document: &mut countersign_protocol::project::ProjectDocument| {
        document.routes[2].max_body_bytes = Some(1000);
    };
    let proxy = proxy_with(|_| panic!("nothing may get here"), small, |_| ()).await;
    for length in [u64::MAX, u64::MAX - 1, u64::MAX - 2, u64::MAX / 2] {
        let answer = proxy.ask(&posting(&proxy, &format!("Content-Length: {length}\r\n"))).await;
        let (status, code) = refused(&answer);
        assert!(
            matches!((status, &*code), (413, "payload_too_large") | (400, "invalid_request")),
            "{length}: {answer}"
        );
    }
}

#[tokio::test]
async fn a_chunk_that_can_be_read_in_two_ways_hides_no_second_request() {
    let proxy = proxy(|_| panic!("nothing may get here")).await;
    let hidden = proxy.read();
    for body in [
        "4\nabcd\n0\n\n",
        "4\r\nabcd\n0\r\n\r\n",
        "4 \r\nabcd\r\n0\r\n\r\n",
        " 4\r\nabcd\r\n0\r\n\r\n",
        "+4\r\nabcd\r\n0\r\n\r\n",
        "-4\r\nabcd\r\n0\r\n\r\n",
        "0x4\r\nabcd\r\n0\r\n\r\n",
        "4\r\nabcdX\r\n0\r\n\r\n",
        "4\r\nabc\r\n0\r\n\r\n",
        "4;a\nb\r\nabcd\r\n0\r\n\r\n",
        "4\rabcd\r\n0\r\n\r\n",
        "10000000000000004\r\nabcd\r\n0\r\n\r\n",
        "g\r\nabcd\r\n0\r\n\r\n",
        ";4\r\nabcd\r\n0\r\n\r\n",
        "\r\n4\r\nabcd\r\n0\r\n\r\n",
        "0\r\nX: y\n\r\n",
        "0\r\n X: y\r\n\r\n",
        "0\r\nX: y\r\r\n\r\n",
    ] {
        let answer =
            proxy.exchange(&format!("{}{body}{hidden}", posting(&proxy, "Transfer-Encoding: chunked\r\n"))).await;
        assert_eq!(refused(&answer), (400, "invalid_request".into()), "{body:?}");
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{body:?}: {answer}");
    }
    assert!(proxy.seen().is_empty(), "{:?}", proxy.seen());
}

///
#[tokio::test]
async fn a_request_in_the_body_of_another_stays_there() {
    let proxy = proxy(|_| CREATED.into()).await;
    let hidden = proxy.read();
    assert_eq!(status(&proxy.ask(&proxy.write(&hidden)).await), 201);
    let inner = format!("\r\n0\r\n\r\n{hidden}");
    let chunked = format!("{:x}\r\n{inner}\r\n0\r\n\r\n", inner.len());
    let answer = proxy.ask(&(posting(&proxy, "Transfer-Encoding: chunked\r\n") + &chunked)).await;
    assert_eq!(status(&answer), 201);
    let seen = proxy.seen();
    assert_eq!(seen.len(), 2);
    assert!(seen[0].ends_with(&format!("\r\n\r\n{hidden}")) && seen[0].starts_with("POST "), "{}", seen[0]);
    assert!(seen[1].ends_with(&format!("\r\n\r\n{inner}")) && seen[1].starts_with("POST "), "{}", seen[1]);
}

#[tokio::test]
async fn bytes_behind_a_body_are_a_request_of_their_own_and_judged_as_one() {
    for behind in ["junk\r\n\r\n", "\0\0\0\0\r\n\r\n", "GET /calendar/events HTTP/1.1\r\n\r\n"] {
        let proxy = proxy(|_| CREATED.into()).await;
        let answers = proxy.exchange(&(proxy.write("{\"a\":1}") + behind)).await;
        let (first, second) = answers.split_at(answers.rfind("HTTP/1.1 ").unwrap());
        assert_eq!((status(first), refused(second)), (201, (400, "invalid_request".into())), "{behind:?}");
        let seen = proxy.seen();
        assert_eq!(seen.len(), 1, "{behind:?}");
        assert!(seen[0].ends_with("\r\n\r\n{\"a\":1}"), "{}", seen[0]);
    }
    // A second request without credentials is decided by itself, independent of the first one on the connection.
    let proxy = proxy(|_| CREATED.into()).await;
    let bare = format!("GET /calendar/events HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n");
    let answers = proxy.exchange(&(proxy.write("{}") + &bare)).await;
    assert!(answers.contains("HTTP/1.1 401 "), "{answers}");
    assert_eq!(proxy.seen().len(), 1);
}

///
#[tokio::test]
async fn a_long_body_that_goes_wrong_on_its_way_never_looks_complete_to_the_service() {
    let peer = Peer::open().await;
    let mut proxy = proxy_to_with(&peer, idempotent_writes, |settings| settings.buffer_limit = 4).await;
    let mut caller = proxy.connect().await;
    let begun = posting(&proxy, "Transfer-Encoding: chunked\r\n") + "6\r\nabcdef\r\n";
    caller.write_all(begun.as_bytes()).await.unwrap();
    let mut behind = peer.accept().await;
    until(&mut behind, |text| text.ends_with("abcdef\r\n")).await;
    caller.write_all(format!("2\nxx\r\n0\r\n\r\n{}", proxy.read()).as_bytes()).await.unwrap();
    assert_eq!(rest(&mut behind).await, "");
    let answer = rest(&mut caller).await;
    assert!(answer.is_empty() || refused(&answer).0 >= 400, "{answer}");
    assert!(!peer.is_called().await);
    proxy.stopped().await;
    assert!(
        proxy.outcomes().await.iter().all(|outcome| outcome.starts_with("unknown: ")),
        "{:?}",
        proxy.outcomes().await
    );
}

///
#[tokio::test]
async fn a_request_behind_an_upgrade_that_is_declined_reaches_nobody() {
    let opening = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\nSec-WebSocket-Version: 13\r\n";
    let websocket = |document: &mut countersign_protocol::project::ProjectDocument| {
        document.routes[0].stream = Some(RouteStream::Websocket);
    };
    let proxy = proxy_with(|_| "HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno".into(), websocket, |_| ()).await;
    let opens = proxy.head("GET /calendar/events", "READ_CALENDAR", opening);
    let answer = proxy.exchange(&(opens + &proxy.write("{}"))).await;
    assert!(answer.starts_with("HTTP/1.1 403 ") && answer.ends_with("\r\n\r\nno"), "{answer}");
    assert_eq!(proxy.seen().len(), 1);
    let peer = Peer::open().await;
    let proxy = proxy_to(&peer).await;
    let asks = posting(&proxy, "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AA\r\n");
    let answer = proxy.exchange(&(asks + &proxy.read())).await;
    assert_eq!(refused(&answer), (400, "invalid_request".into()));
    assert!(!peer.is_called().await);
}

#[tokio::test]
async fn a_duplicate_member_of_a_request_counts_as_absent() {
    let proxy = proxy(|_| panic!("nothing may get here")).await;
    let session = format!("X-Agent-Session: {}\r\n", proxy.fixture.agent.session_id);
    let token = format!("authorization: Bearer {}\r\n", proxy.fixture.agent.access_token);
    for more in
        [&*session, &token, "Host: gateway.test\r\n", "AAP-Version: 2.0\r\n", "x-agent-mode: user_delegated\r\n"]
    {
        let answer = proxy.ask(&proxy.head("GET /calendar/events", "READ_CALENDAR", more)).await;
        assert_eq!(refused(&answer), (400, "invalid_request".into()), "{more}");
    }
}
