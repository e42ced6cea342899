//! Upstreams that are down, slow or misbehaving: callers get valid, truthful responses, and never another caller's.

use crate::{
    peer::{OK, Peer, proxy_to, proxy_to_with, request, rest, until},
    proxy_fixture::{ProxyFixture, closing, proxy, proxy_with, refused, status},
};
use countersign_gateway::GatewaySettings;
use countersign_protocol::project::ProjectDocument;
use std::time::Duration;
use tokio::{io::AsyncWriteExt as _, net::TcpStream};

fn is_whole(answer: &str) -> bool {
    answer.ends_with("\r\n\r\nok")
}

/// A call on a connection that stays open, up to its response.
async fn call(proxy: &ProxyFixture, caller: &mut TcpStream, peer: &mut TcpStream) -> String {
    caller.write_all(proxy.read().as_bytes()).await.unwrap();
    request(peer).await;
    peer.write_all(OK.as_bytes()).await.unwrap();
    until(caller, is_whole).await
}

#[tokio::test]
async fn connections_are_used_again_on_both_sides() {
    let peer = Peer::open().await;
    let proxy = proxy_to(&peer).await;
    let (mut caller, mut behind) = peer.receives(&proxy, &proxy.read()).await;
    behind.write_all(OK.as_bytes()).await.unwrap();
    until(&mut caller, is_whole).await;
    for _ in 0..5 {
        call(&proxy, &mut caller, &mut behind).await;
    }
    // Another caller's call uses the same upstream connection.
    let mut other = proxy.connect().await;
    call(&proxy, &mut other, &mut behind).await;
    assert!(!peer.is_called().await, "one connection behind was enough");
    assert_eq!(proxy.outcomes().await, ["200 OK"; 7]);
}

#[tokio::test]
async fn a_connection_that_the_service_closed_between_two_calls_costs_neither_of_them() {
    let peer = Peer::open().await;
    let proxy = proxy_to(&peer).await;
    let mut caller = proxy.connect().await;
    for asked in [proxy.read(), proxy.write("{}"), proxy.read(), proxy.write("{}")] {
        caller.write_all(asked.as_bytes()).await.unwrap();
        let mut behind = peer.accept().await;
        request(&mut behind).await;
        // It does not announce the close.
        behind.write_all(OK.as_bytes()).await.unwrap();
        drop(behind);
        let answer = until(&mut caller, is_whole).await;
        assert_eq!(status(&answer), 200);
    }
    assert!(!peer.is_called().await);
}

///
#[tokio::test]
async fn a_write_is_not_repeated_when_a_used_connection_breaks_under_it() {
    let peer = Peer::open().await;
    let proxy = proxy_to(&peer).await;
    let (mut caller, mut behind) = peer.receives(&proxy, &proxy.read()).await;
    behind.write_all(OK.as_bytes()).await.unwrap();
    until(&mut caller, is_whole).await;
    caller.write_all(closing(&proxy.write("{}")).as_bytes()).await.unwrap();
    request(&mut behind).await;
    drop(behind);
    let answer = rest(&mut caller).await;
    assert_eq!(refused(&answer), (502, "upstream_failed".into()));
    assert!(answer.contains("do not repeat it blindly"), "{answer}");
    assert!(!peer.is_called().await, "a second time would be a second effect");
    assert!(proxy.outcomes().await.iter().any(|outcome| outcome.starts_with("unknown: ")));
}

///
#[tokio::test]
async fn a_service_that_hangs_up_before_it_has_read_anything_gets_a_write_once() {
    let peer = Peer::open().await;
    let proxy = proxy_to(&peer).await;
    let mut caller = proxy.connect().await;
    caller.write_all(closing(&proxy.write("{}")).as_bytes()).await.unwrap();
    drop(peer.accept().await);
    assert_eq!(refused(&rest(&mut caller).await), (502, "upstream_failed".into()));
    assert!(!peer.is_called().await);
}

#[tokio::test]
async fn an_answer_that_nobody_asked_for_is_not_given_to_the_next_caller() {
    let peer = Peer::open().await;
    let proxy = proxy_to(&peer).await;
    let poison = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison";
    for extra in [poison, "HTTP/1.1 200 OK\r\n", "\r\n\r\n", "x"] {
        let (mut caller, mut behind) = peer.receives(&proxy, &proxy.read()).await;
        behind.write_all(format!("{OK}{extra}").as_bytes()).await.unwrap();
        until(&mut caller, is_whole).await;
        let mut next = proxy.connect().await;
        next.write_all(proxy.read().as_bytes()).await.unwrap();
        let mut fresh = peer.accept().await;
        request(&mut fresh).await;
        fresh.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok").await.unwrap();
        until(&mut next, is_whole).await;
    }
}

///
#[tokio::test]
async fn an_upstream_that_closes_or_sends_no_valid_head_may_have_done_it() {
    let heads = [
        format!("HTTP/1.1 200 OK\r\nX: {}\r\nContent-Length: 2\r\n\r\nok", "a".repeat(200_000)),
        format!("HTTP/1.1 200 OK\r\n{}Content-Length: 2\r\n\r\nok", "X: y\r\n".repeat(500)),
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nokk".into(),
        "HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\nok".into(),
        "HTTP/1.1 999999 OK\r\nContent-Length: 2\r\n\r\nok".into(),
        "HTTP/1.1 200 OK\r\nX\0: y\r\nContent-Length: 2\r\n\r\nok".into(),
        "HTTP/1.1 200 OK\r\nX : y\r\nContent-Length: 2\r\n\r\nok".into(),
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nContent-Length: 0\r\n\r\n".into(),
        "nonsense\r\n\r\n".into(),
        String::new(),
    ];
    for head in heads {
        let peer = Peer::open().await;
        let proxy = proxy_to(&peer).await;
        let (mut caller, mut behind) = peer.receives(&proxy, &closing(&proxy.write("{}"))).await;
        let _hung_up_on = behind.write_all(head.as_bytes()).await;
        drop(behind);
        let answer = rest(&mut caller).await;
        assert_eq!(refused(&answer), (502, "upstream_failed".into()), "{}", head.chars().take(80).collect::<String>());
        assert!(answer.contains("do not repeat it blindly"), "{answer}");
        assert!(!peer.is_called().await, "sent once");
        assert!(proxy.outcomes().await[0].starts_with("unknown: "));
    }
}

#[tokio::test]
async fn what_a_service_says_about_its_connection_or_in_our_name_does_not_pass() {
    let peer = Peer::open().await;
    let proxy = proxy_to(&peer).await;
    let (mut caller, mut behind) = peer.receives(&proxy, &proxy.read()).await;
    let said = "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nConnection: X-Private, keep-alive\r\n\
                X-Private: 1\r\nKeep-Alive: timeout=5\r\nProxy-Authenticate: Basic\r\nTrailer: X-T\r\nUpgrade: h2c\r\n\
                Countersign-Identity: made up\r\nCountersign-Any: 1\r\nDPoP-Nonce: theirs\r\nX-Agent-Mode: theirs\r\n\
                X-Agent-Anything: 1\r\nAAP-Version-Served: 9.9\r\nX-Request-Id: theirs\r\nAlt-Svc: h3=\":1\"\r\n\
                WWW-Authenticate: DPoP error=\"x\"\r\nWWW-Authenticate: Basic realm=\"own\"\r\nX-Own: 1\r\n\
                Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-T: 1\r\nX-Agent-Mode: theirs\r\n\r\n";
    behind.write_all(said.as_bytes()).await.unwrap();
    let answer = until(&mut caller, |text| text.ends_with("0\r\n\r\n")).await.to_lowercase();
    for gone in [
        "private",
        "keep-alive",
        "proxy-",
        "trailer",
        "upgrade",
        "countersign-",
        "theirs",
        "x-agent-",
        "9.9",
        "alt-svc",
        "dpop error",
        "x-t:",
        "early hints",
    ] {
        assert!(!answer.contains(gone), "{gone}: {answer}");
    }
    for stays in
        ["x-own: 1\r\n", "www-authenticate: basic realm=\"own\"", "aap-version-served: 2.0", "x-request-id: req_"]
    {
        assert!(answer.contains(stays), "{stays}: {answer}");
    }
}

#[tokio::test]
async fn an_answer_that_stands_still_breaks_off_and_is_seen_to() {
    let peer = Peer::open().await;
    let hurried = |settings: &mut GatewaySettings| settings.body_timeout = Duration::from_millis(60);
    let proxy = proxy_to_with(&peer, |_| (), hurried).await;
    for head in ["Content-Length: 4", "Transfer-Encoding: chunked"] {
        let (mut caller, mut behind) = peer.receives(&proxy, &proxy.read()).await;
        behind.write_all(format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n2\r\n").as_bytes()).await.unwrap();
        let answer = rest(&mut caller).await;
        assert!(status(&answer) == 200 && !answer.ends_with("0\r\n\r\n"), "{answer}");
        assert_eq!(rest(&mut behind).await, "", "the connection behind is not used again");
    }
}

///
#[tokio::test]
async fn an_upstream_that_answers_too_late_may_have_done_it() {
    type Change = fn(&mut ProjectDocument);
    let by_route: Change = |document| document.routes[2].upstream_timeout_seconds = Some(1);
    let by_upstream: Change = |document| document.upstreams[0].timeout_seconds = Some(1);
    for one_second in [by_route, by_upstream] {
        let peer = Peer::open().await;
        let mut proxy = proxy_to_with(&peer, one_second, |_| ()).await;
        let (mut caller, mut behind) = peer.receives(&proxy, &closing(&proxy.write("{}"))).await;
        // An incomplete head is no answer.
        behind.write_all(b"HTTP/1.1 201 Created\r\n").await.unwrap();
        let answer = rest(&mut caller).await;
        assert_eq!(refused(&answer), (504, "upstream_timeout".into()));
        assert!(answer.contains("do not repeat it blindly"), "{answer}");
        let _too_late = behind.write_all(b"Content-Length: 0\r\n\r\n").await;
        assert!(!peer.is_called().await);
        proxy.stopped().await;
        let outcomes = proxy.outcomes().await;
        assert!(outcomes.len() == 1 && outcomes[0].starts_with("unknown: "), "{outcomes:?}");
    }
}

///
#[tokio::test]
async fn an_upstream_that_is_down_got_nothing() {
    let nobody = |document: &mut ProjectDocument| document.upstreams[0].url = "http://127.0.0.1:1".into();
    let proxy = proxy_with(|_| panic!("nobody is there"), nobody, |_| ()).await;
    for request in [proxy.read(), proxy.write("{}")] {
        let answer = proxy.ask(&request).await;
        assert_eq!(refused(&answer), (502, "upstream_failed".into()));
        assert!(answer.contains("nothing was sent; try again"), "{answer}");
    }
    assert!(proxy.outcomes().await.iter().all(|outcome| outcome.starts_with("not sent: ")));
}

#[tokio::test]
async fn an_upstreams_own_errors_are_passed_on() {
    for status_line in ["404 Not Found", "500 Internal Server Error", "502 Bad Gateway", "504 Gateway Timeout"] {
        let proxy = proxy(move |_| format!("HTTP/1.1 {status_line}\r\nContent-Length: 4\r\n\r\noops").into()).await;
        let answer = proxy.ask(&proxy.write("{}")).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status_line}")) && answer.ends_with("oops"), "{answer}");
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_seen_to_break_off() {
    let proxy = proxy(|_| "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n".into()).await;
    let answer = proxy.ask(&proxy.read()).await;
    assert_eq!(status(&answer), 200);
    assert!(!answer.contains("0\r\n\r\n"), "{answer}");
}

#[tokio::test]
async fn an_upstream_or_credential_that_the_node_does_not_know_gets_nothing() {
    let unknown = |document: &mut ProjectDocument| document.upstreams[0].credential = Some("none".into());
    let proxy = proxy_with(|_| panic!("nothing may get here"), unknown, |_| ()).await;
    assert_eq!(refused(&proxy.ask(&proxy.write("{}")).await), (502, "upstream_failed".into()));
    let nowhere = |settings: &mut GatewaySettings| settings.allowed_upstreams = Some(Vec::new());
    let proxy = proxy_with(|_| panic!("nothing may get here"), |_| (), nowhere).await;
    assert_eq!(refused(&proxy.ask(&proxy.read()).await), (502, "upstream_failed".into()));
}
