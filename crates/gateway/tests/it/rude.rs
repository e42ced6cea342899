//! Misbehaving upstreams: callers get valid, truthful responses, and never another caller's.

use crate::{
    peer::{OK, Peer, before, before_with, request, rest, until},
    stage::{Stage, refused, status},
};
use countersign_gateway::GatewaySettings;
use std::time::Duration;
use tokio::{io::AsyncWriteExt as _, net::TcpStream};

fn is_whole(answer: &str) -> bool {
    answer.ends_with("\r\n\r\nok")
}

/// A call on a connection that stays open, up to its response.
async fn call(stage: &Stage, caller: &mut TcpStream, peer: &mut TcpStream) -> String {
    caller.write_all(stage.read().as_bytes()).await.unwrap();
    request(peer).await;
    peer.write_all(OK.as_bytes()).await.unwrap();
    until(caller, is_whole).await
}

#[tokio::test]
async fn connections_are_used_again_on_both_sides() {
    let peer = Peer::open().await;
    let stage = before(&peer).await;
    let mut caller = stage.connect().await;
    caller.write_all(stage.read().as_bytes()).await.unwrap();
    let mut behind = peer.accept().await;
    request(&mut behind).await;
    behind.write_all(OK.as_bytes()).await.unwrap();
    until(&mut caller, is_whole).await;
    for _ in 0..5 {
        call(&stage, &mut caller, &mut behind).await;
    }
    // Another caller's call uses the same upstream connection.
    let mut other = stage.connect().await;
    call(&stage, &mut other, &mut behind).await;
    assert!(!peer.is_called().await, "one connection behind was enough");
    assert_eq!(stage.outcomes().await, ["200 OK"; 7]);
}

#[tokio::test]
async fn a_connection_that_the_service_closed_between_two_calls_costs_neither_of_them() {
    let peer = Peer::open().await;
    let stage = before(&peer).await;
    let mut caller = stage.connect().await;
    for asked in [stage.read(), stage.write("{}"), stage.read(), stage.write("{}")] {
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
    let stage = before(&peer).await;
    let mut caller = stage.connect().await;
    caller.write_all(stage.read().as_bytes()).await.unwrap();
    let mut behind = peer.accept().await;
    request(&mut behind).await;
    behind.write_all(OK.as_bytes()).await.unwrap();
    until(&mut caller, is_whole).await;
    let closing = stage.write("{}").replacen("\r\nAap", "\r\nConnection: close\r\nAap", 1);
    caller.write_all(closing.as_bytes()).await.unwrap();
    request(&mut behind).await;
    drop(behind);
    let answer = rest(&mut caller).await;
    assert_eq!(refused(&answer), (502, "upstream_failed".into()));
    assert!(answer.contains("do not repeat it blindly"), "{answer}");
    assert!(!peer.is_called().await, "a second time would be a second effect");
    assert!(stage.outcomes().await.iter().any(|outcome| outcome.starts_with("unknown: ")));
}

///
#[tokio::test]
async fn a_service_that_hangs_up_before_it_has_read_anything_gets_a_write_once() {
    let peer = Peer::open().await;
    let stage = before(&peer).await;
    let mut caller = stage.connect().await;
    let closing = stage.write("{}").replacen("\r\nAap", "\r\nConnection: close\r\nAap", 1);
    caller.write_all(closing.as_bytes()).await.unwrap();
    drop(peer.accept().await);
    assert_eq!(refused(&rest(&mut caller).await), (502, "upstream_failed".into()));
    assert!(!peer.is_called().await);
}

#[tokio::test]
async fn an_answer_that_nobody_asked_for_is_not_given_to_the_next_caller() {
    let peer = Peer::open().await;
    let stage = before(&peer).await;
    let poison = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison";
    for extra in [poison, "HTTP/1.1 200 OK\r\n", "\r\n\r\n", "x"] {
        let mut caller = stage.connect().await;
        caller.write_all(stage.read().as_bytes()).await.unwrap();
        let mut behind = peer.accept().await;
        request(&mut behind).await;
        behind.write_all(format!("{OK}{extra}").as_bytes()).await.unwrap();
        until(&mut caller, is_whole).await;
        let mut next = stage.connect().await;
        next.write_all(stage.read().as_bytes()).await.unwrap();
        let mut fresh = peer.accept().await;
        request(&mut fresh).await;
        fresh.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok").await.unwrap();
        until(&mut next, is_whole).await;
    }
}

#[tokio::test]
async fn an_answer_with_a_head_that_is_too_large_or_says_two_lengths_is_none() {
    let heads = [
        format!("HTTP/1.1 200 OK\r\nX: {}\r\nContent-Length: 2\r\n\r\nok", "a".repeat(200_000)),
        format!("HTTP/1.1 200 OK\r\n{}Content-Length: 2\r\n\r\nok", "X: y\r\n".repeat(500)),
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nokk".into(),
        "HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\nok".into(),
        "HTTP/1.1 999999 OK\r\nContent-Length: 2\r\n\r\nok".into(),
        "HTTP/1.1 200 OK\r\nX\0: y\r\nContent-Length: 2\r\n\r\nok".into(),
        "HTTP/1.1 200 OK\r\nX : y\r\nContent-Length: 2\r\n\r\nok".into(),
    ];
    for head in heads {
        let peer = Peer::open().await;
        let stage = before(&peer).await;
        let mut caller = stage.connect().await;
        let closing = stage.write("{}").replacen("\r\nAap", "\r\nConnection: close\r\nAap", 1);
        caller.write_all(closing.as_bytes()).await.unwrap();
        let mut behind = peer.accept().await;
        request(&mut behind).await;
        let _hung_up_on = behind.write_all(head.as_bytes()).await;
        let answer = rest(&mut caller).await;
        assert_eq!(refused(&answer), (502, "upstream_failed".into()), "{}", head.chars().take(80).collect::<String>());
        assert!(answer.contains("do not repeat it blindly"), "{answer}");
    }
}

#[tokio::test]
async fn an_upstreams_connection_headers_and_headers_in_our_name_do_not_pass() {
    let peer = Peer::open().await;
    let stage = before(&peer).await;
    let mut caller = stage.connect().await;
    caller.write_all(stage.read().as_bytes()).await.unwrap();
    let mut behind = peer.accept().await;
    request(&mut behind).await;
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
    let stage = before_with(&peer, |_| (), hurried).await;
    for head in ["Content-Length: 4", "Transfer-Encoding: chunked"] {
        let mut caller = stage.connect().await;
        caller.write_all(stage.read().as_bytes()).await.unwrap();
        let mut behind = peer.accept().await;
        request(&mut behind).await;
        behind.write_all(format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n2\r\n").as_bytes()).await.unwrap();
        let answer = rest(&mut caller).await;
        assert!(status(&answer) == 200 && !answer.ends_with("0\r\n\r\n"), "{answer}");
        assert_eq!(rest(&mut behind).await, "", "the connection behind is not used again");
    }
}

///
#[tokio::test]
async fn a_service_that_answers_too_late_has_another_error_than_one_that_is_down() {
    let peer = Peer::open().await;
    let one_second = |document: &mut countersign_protocol::project::ProjectDocument| {
        document.routes[2].upstream_timeout_seconds = Some(1);
    };
    let mut stage = before_with(&peer, one_second, |_| ()).await;
    let mut caller = stage.connect().await;
    let closing = stage.write("{}").replacen("\r\nAap", "\r\nConnection: close\r\nAap", 1);
    caller.write_all(closing.as_bytes()).await.unwrap();
    let mut behind = peer.accept().await;
    request(&mut behind).await;
    let answer = rest(&mut caller).await;
    assert_eq!(refused(&answer), (504, "upstream_timeout".into()));
    assert!(answer.contains("do not repeat it blindly"), "{answer}");
    let _too_late = behind.write_all(b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n").await;
    assert!(!peer.is_called().await);
    stage.stopped().await;
    let outcomes = stage.outcomes().await;
    assert!(outcomes.len() == 1 && outcomes[0].starts_with("unknown: "), "{outcomes:?}");
}
