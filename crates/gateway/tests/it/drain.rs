//! A shutdown without loss: calls in flight finish, no new one begins, and the wait has a limit.

use crate::{
    peer::{OK, Peer, proxy_to, proxy_to_with, request, rest, soon, until},
    proxy_fixture::{ProxyFixture, refused, status},
    streams::closed,
};
use countersign_gateway::GatewaySettings;
use countersign_protocol::project::{ProjectDocument, RouteStream};
use std::time::Duration;
use tokio::{io::AsyncWriteExt as _, net::TcpStream};

const BEGUN: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
const AGREED: &str = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                      Sec-WebSocket-Accept: x\r\n\r\n";

/// Announces the shutdown, and waits until the listener is closed.
#[expect(clippy::disallowed_methods, reason = "the test is the client")]
async fn announced(proxy: &mut ProxyFixture) {
    drop(proxy.stop.take());
    let refused = async { while TcpStream::connect(proxy.gateway).await.is_ok() {} };
    soon(refused).await;
}

/// AAP-7.1-02
#[tokio::test]
async fn a_call_under_way_is_answered_and_recorded_and_new_connections_are_refused() {
    let peer = Peer::open().await;
    let mut proxy = proxy_to(&peer).await;
    let (mut caller, mut behind) = peer.receives(&proxy, &proxy.write("{}")).await;
    announced(&mut proxy).await;
    assert!(!proxy.served.is_finished());
    behind.write_all(b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok").await.unwrap();
    let answer = rest(&mut caller).await;
    assert!(status(&answer) == 201 && answer.ends_with("ok"), "{answer}");
    assert!(answer.to_lowercase().contains("connection: close"), "{answer}");
    proxy.stopped().await;
    assert_eq!(proxy.outcomes().await, ["201 Created"]);
}

#[tokio::test]
async fn a_body_that_is_still_arriving_is_let_in_and_a_connection_without_a_call_ends() {
    let peer = Peer::open().await;
    let mut proxy = proxy_to(&peer).await;
    let (mut idle, mut caller) = (proxy.connect().await, proxy.connect().await);
    // Proves that the idle connection was accepted.
    idle.write_all(proxy.read().as_bytes()).await.unwrap();
    let mut behind = peer.accept().await;
    request(&mut behind).await;
    behind.write_all(OK.as_bytes()).await.unwrap();
    until(&mut idle, |text| text.ends_with("\r\n\r\nok")).await;
    let body = "{\"a\":1}";
    let whole = proxy.write(body);
    let (begun, left) = whole.split_at(whole.len() - 4);
    caller.write_all(begun.as_bytes()).await.unwrap();
    // A moment in which the gateway reads the requests that were begun.
    assert_eq!(refused(&proxy.exchange("GET /x HTTP/1.1\r\n\r\n").await).0, 400);
    announced(&mut proxy).await;
    assert_eq!(rest(&mut idle).await, "");
    caller.write_all(left.as_bytes()).await.unwrap();
    assert!(request(&mut behind).await.ends_with(body));
    behind.write_all(OK.as_bytes()).await.unwrap();
    assert!(rest(&mut caller).await.ends_with("\r\n\r\nok"));
    proxy.stopped().await;
}

///
#[tokio::test]
async fn streams_end_with_the_gateway_and_stand_in_the_audit() {
    for (stream, begun) in [(RouteStream::Events, BEGUN), (RouteStream::Websocket, AGREED)] {
        let peer = Peer::open().await;
        let declared = move |document: &mut ProjectDocument| document.routes[0].stream = Some(stream);
        let mut proxy = proxy_to_with(&peer, declared, |_| ()).await;
        let mut caller = proxy.connect().await;
        let opening =
            "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\nSec-WebSocket-Version: 13\r\n";
        let more = if begun == AGREED { opening } else { "" };
        caller.write_all(proxy.head("GET /calendar/events", "READ_CALENDAR", more).as_bytes()).await.unwrap();
        let mut behind = peer.accept().await;
        request(&mut behind).await;
        behind.write_all(begun.as_bytes()).await.unwrap();
        until(&mut caller, |text| text.ends_with("\r\n\r\n")).await;
        proxy.stopped().await;
        assert_eq!(rest(&mut caller).await, "");
        assert_eq!(closed(&proxy).await, ["the gateway stopped"]);
    }
}

#[tokio::test]
async fn a_service_that_never_answers_does_not_keep_the_gateway_from_ending() {
    let peer = Peer::open().await;
    let hurried = |settings: &mut GatewaySettings| settings.drain = Duration::from_millis(50);
    let mut proxy = proxy_to_with(&peer, |_| (), hurried).await;
    let (mut caller, _behind) = peer.receives(&proxy, &proxy.write("{}")).await;
    proxy.stopped().await;
    let answer = rest(&mut caller).await;
    assert!(answer.is_empty() || status(&answer) >= 500, "nobody says that it worked: {answer}");
}
