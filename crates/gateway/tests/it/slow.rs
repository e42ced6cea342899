//! Callers that are slow, or leave in the middle.

use crate::{
    peer::{OK, Peer, idempotent_writes, proxy_to, proxy_to_with, rest, until},
    proxy_fixture::{HOST, proxy, proxy_with, refused, status},
};
use countersign_gateway::GatewaySettings;
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;

fn hurried(settings: &mut GatewaySettings) {
    settings.header_timeout = Duration::from_millis(60);
    settings.body_timeout = Duration::from_millis(60);
    settings.idle_timeout = Duration::from_millis(60);
}

/// A caller that sends a byte now and then has no more time than a silent one.
#[tokio::test]
async fn a_head_that_drips_is_refused_like_a_head_or_body_that_stops() {
    let proxy = proxy_with(|_| panic!("nothing may get here"), |_| (), hurried).await;
    let (mut reading, mut writing) = proxy.connect().await.into_split();
    let head = proxy.read().into_bytes();
    let dripping = tokio::spawn(async move {
        let mut pace = tokio::time::interval(Duration::from_millis(10));
        for byte in head {
            pace.tick().await;
            if writing.write_all(&[byte]).await.is_err() {
                break;
            }
        }
    });
    let slow = (408, "request_timeout".to_owned());
    assert_eq!(refused(&rest(&mut reading).await), slow);
    dripping.abort();
    assert_eq!(refused(&proxy.exchange("GET /calendar/ev").await), slow);
    let body = proxy.write("{\"a\":1}");
    assert_eq!(refused(&proxy.exchange(&body[..body.len() - 2]).await), slow);
}

#[tokio::test]
async fn an_idle_connection_is_closed_and_makes_room() {
    let few = |settings: &mut GatewaySettings| {
        hurried(settings);
        settings.max_connections = 2;
    };
    let proxy = proxy_with(|_| OK.into(), |_| (), few).await;
    let (mut first, mut second) = (proxy.connect().await, proxy.connect().await);
    assert_eq!(status(&proxy.ask(&proxy.read()).await), 200);
    assert_eq!((rest(&mut first).await, rest(&mut second).await), (String::new(), String::new()));
}

///
#[tokio::test]
async fn a_long_body_that_stops_on_its_way_breaks_off_and_is_recorded_as_unknown() {
    let peer = Peer::open().await;
    let small = |settings: &mut GatewaySettings| {
        hurried(settings);
        settings.buffer_limit = 4;
    };
    let mut proxy = proxy_to_with(&peer, idempotent_writes, small).await;
    let mut caller = proxy.connect().await;
    let whole = proxy.write("{\"a\":1234567890}");
    caller.write_all(&whole.as_bytes()[..whole.len() - 3]).await.unwrap();
    let mut behind = peer.accept().await;
    let got = rest(&mut behind).await;
    assert!(got.starts_with("POST /calendar/events ") && got.contains("content-length: 16\r\n"), "{got}");
    assert!(got.ends_with("{\"a\":12345678"), "{got}");
    let answer = rest(&mut caller).await;
    assert!(answer.is_empty() || refused(&answer).0 >= 400, "{answer}");
    proxy.stopped().await;
    let outcomes = proxy.outcomes().await;
    assert!(outcomes.len() == 1 && outcomes[0].starts_with("unknown: "), "{outcomes:?}");
}

#[tokio::test]
async fn a_caller_that_leaves_in_the_middle_of_a_short_body_sent_nothing() {
    let peer = Peer::open().await;
    let mut proxy = proxy_to(&peer).await;
    for left in [1, 5, 9] {
        let mut caller = proxy.connect().await;
        let whole = proxy.write("{\"a\":1234}");
        caller.write_all(&whole.as_bytes()[..whole.len() - left]).await.unwrap();
        caller.shutdown().await.unwrap();
        let answer = rest(&mut caller).await;
        assert!(answer.is_empty() || refused(&answer).0 == 400, "{answer}");
    }
    proxy.stopped().await;
    assert!(!peer.is_called().await);
}

/// AAP-7.1-02
#[tokio::test]
async fn the_outcome_of_a_write_is_recorded_although_its_caller_has_left() {
    let peer = Peer::open().await;
    let mut proxy = proxy_to(&peer).await;
    let (caller, mut behind) = peer.receives(&proxy, &proxy.write("{}")).await;
    drop(caller);
    // A later caller's response proves that the gateway has noticed.
    let stranger = format!("GET /calendar/events HTTP/1.1\r\nHost: {HOST}\r\nAap-Version: 2.0\r\n\r\n");
    assert_eq!(status(&proxy.ask(&stranger).await), 401);
    behind.write_all(b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n").await.unwrap();
    proxy.stopped().await;
    assert_eq!(proxy.outcomes().await, ["201 Created"]);
}

/// AAP-7.1-02
#[tokio::test]
async fn a_read_that_reached_the_service_stands_in_the_audit_although_its_caller_has_left() {
    let peer = Peer::open().await;
    let mut proxy = proxy_to(&peer).await;
    let (caller, mut behind) = peer.receives(&proxy, &proxy.read()).await;
    drop(caller);
    // The gateway closes its side in turn, so it has noticed.
    assert_eq!(rest(&mut behind).await, "");
    proxy.stopped().await;
    let outcomes = proxy.outcomes().await;
    assert!(outcomes.len() == 1 && outcomes[0].starts_with("unknown: "), "{outcomes:?}");
}

/// A caller that reads nothing must not make the gateway buffer everything.
#[tokio::test]
async fn a_caller_that_does_not_read_slows_the_service_down() {
    let peer = Peer::open().await;
    let proxy = proxy_to(&peer).await;
    let (mut caller, mut behind) = peer.receives(&proxy, &proxy.read()).await;
    behind.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n").await.unwrap();
    let piece = vec![b'x'; 1024 * 1024];
    let mut taken = 0;
    while taken < 200 && tokio::time::timeout(Duration::from_millis(200), behind.write_all(&piece)).await.is_ok() {
        taken += 1;
    }
    assert!(taken < 200, "the gateway took {taken} MiB that nobody read");
    until(&mut caller, |text| text.ends_with("\r\n\r\nxxx")).await;
}

#[tokio::test]
async fn heads_and_targets_that_are_too_large_are_refused_and_the_largest_pass() {
    let proxy = proxy(|_| OK.into()).await;
    let with = |more: &str| proxy.head("GET /calendar/events", "READ_CALENDAR", more);
    let query = |length: usize| proxy.read().replacen("events", &format!("events?q={}", "a".repeat(length)), 1);
    let many = |count: usize| with(&(0..count).map(|n| format!("X-{n}: 1\r\n")).collect::<String>());
    for (sound, too_large) in [
        (with(&format!("X: {}\r\n", "a".repeat(31_000))), with(&format!("X: {}\r\n", "a".repeat(33_000)))),
        (query(8_000), query(8_300)),
        (many(90), many(101)),
    ] {
        assert_eq!(status(&proxy.ask(&sound).await), 200);
        assert_eq!(refused(&proxy.ask(&too_large).await), (400, "invalid_request".into()));
    }
    assert_eq!(proxy.seen().len(), 3);
}

///
#[tokio::test]
async fn a_write_that_has_not_left_when_its_delegation_is_revoked_is_cut_off_and_unknown() {
    let peer = Peer::open().await;
    let mut proxy = proxy_to(&peer).await;
    // More than the socket buffers of both sides hold, so that it cannot leave unread.
    let more = "Content-Type: application/json\r\nContent-Length: 67108864\r\n";
    let head = proxy.head("POST /calendar/events", "SCHEDULE_EVENT", more);
    let (mut reading, mut writing) = proxy.connect().await.into_split();
    let sending = tokio::spawn(async move {
        writing.write_all(head.as_bytes()).await.unwrap();
        let piece = vec![b' '; 64 * 1024];
        while writing.write_all(&piece).await.is_ok() {}
    });
    let mut behind = peer.accept().await;
    assert_eq!(until(&mut behind, |got| !got.is_empty()).await, "P");
    assert_eq!(proxy.fixture.revoke().await.status, 200);
    let answer = rest(&mut reading).await;
    assert!(answer.is_empty() || refused(&answer).0 == 502, "{answer}");
    sending.abort();
    proxy.stopped().await;
    let outcomes = proxy.outcomes().await;
    assert!(outcomes.len() == 1 && outcomes[0].starts_with("unknown: a revocation"), "{outcomes:?}");
}
