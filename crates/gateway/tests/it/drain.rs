//! A shutdown without loss: calls in flight finish, no new one begins, and the wait has a limit.

use crate::{
    peer::{OK, Peer, before, before_with, request, rest, soon, until},
    stage::{Stage, refused, status},
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
async fn announced(stage: &mut Stage) {
    drop(stage.stop.take());
    let refused = async { while TcpStream::connect(stage.gateway).await.is_ok() {} };
    soon(refused).await;
}

/// AAP-7.1-02
#[tokio::test]
async fn a_call_under_way_is_answered_and_recorded_and_new_connections_are_refused() {
    let peer = Peer::open().await;
    let mut stage = before(&peer).await;
    let (mut caller, mut behind) = peer.receives(&stage, &stage.write("{}")).await;
    announced(&mut stage).await;
    assert!(!stage.served.is_finished());
    behind.write_all(b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok").await.unwrap();
    let answer = rest(&mut caller).await;
    assert!(status(&answer) == 201 && answer.ends_with("ok"), "{answer}");
    assert!(answer.to_lowercase().contains("connection: close"), "{answer}");
    stage.stopped().await;
    assert_eq!(stage.outcomes().await, ["201 Created"]);
}

#[tokio::test]
async fn a_body_that_is_still_arriving_is_let_in_and_a_connection_without_a_call_ends() {
    let peer = Peer::open().await;
    let mut stage = before(&peer).await;
    let (mut idle, mut caller) = (stage.connect().await, stage.connect().await);
    // Proves that the idle connection was accepted.
    idle.write_all(stage.read().as_bytes()).await.unwrap();
    let mut behind = peer.accept().await;
    request(&mut behind).await;
    behind.write_all(OK.as_bytes()).await.unwrap();
    until(&mut idle, |text| text.ends_with("\r\n\r\nok")).await;
    let body = "{\"a\":1}";
    let whole = stage.write(body);
    let (begun, left) = whole.split_at(whole.len() - 4);
    caller.write_all(begun.as_bytes()).await.unwrap();
    // A moment in which the gateway reads the requests that were begun.
    assert_eq!(refused(&stage.exchange("GET /x HTTP/1.1\r\n\r\n").await).0, 400);
    announced(&mut stage).await;
    assert_eq!(rest(&mut idle).await, "");
    caller.write_all(left.as_bytes()).await.unwrap();
    assert!(request(&mut behind).await.ends_with(body));
    behind.write_all(OK.as_bytes()).await.unwrap();
    assert!(rest(&mut caller).await.ends_with("\r\n\r\nok"));
    stage.stopped().await;
}

///
#[tokio::test]
async fn streams_end_with_the_gateway_and_stand_in_the_audit() {
    for (stream, begun) in [(RouteStream::Events, BEGUN), (RouteStream::Websocket, AGREED)] {
        let peer = Peer::open().await;
        let declared = move |document: &mut ProjectDocument| document.routes[0].stream = Some(stream);
        let mut stage = before_with(&peer, declared, |_| ()).await;
        let mut caller = stage.connect().await;
        let opening =
            "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\nSec-WebSocket-Version: 13\r\n";
        let more = if begun == AGREED { opening } else { "" };
        caller.write_all(stage.head("GET /calendar/events", "READ_CALENDAR", more).as_bytes()).await.unwrap();
        let mut behind = peer.accept().await;
        request(&mut behind).await;
        behind.write_all(begun.as_bytes()).await.unwrap();
        until(&mut caller, |text| text.ends_with("\r\n\r\n")).await;
        stage.stopped().await;
        assert_eq!(rest(&mut caller).await, "");
        assert_eq!(closed(&stage).await, ["the gateway stopped"]);
    }
}

#[tokio::test]
async fn a_service_that_never_answers_does_not_keep_the_gateway_from_ending() {
    let peer = Peer::open().await;
    let hurried = |settings: &mut GatewaySettings| settings.drain = Duration::from_millis(50);
    let mut stage = before_with(&peer, |_| (), hurried).await;
    let (mut caller, _behind) = peer.receives(&stage, &stage.write("{}")).await;
    stage.stopped().await;
    let answer = rest(&mut caller).await;
    assert!(answer.is_empty() || status(&answer) >= 500, "nobody says that it worked: {answer}");
}
