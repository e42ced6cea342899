//! Streams: only on declared routes, audited at open and close, cut when the session is over.

use crate::stage::{Stage, read_to_end, refused, stage, stage_with};
use countersign_protocol::project::{ProjectDocument, RouteStream};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const AGREED: &str = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                      Sec-WebSocket-Accept: x\r\nX-Agent-Mode: made up\r\n\r\n";
const OPENING: &str = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\n\
                       Sec-WebSocket-Version: 13\r\nOrigin: https://a.test\r\n";

fn of(stream: RouteStream) -> impl FnOnce(&mut ProjectDocument) {
    move |document| document.routes[0].stream = Some(stream)
}

fn opening(stage: &Stage) -> String {
    stage.head("GET /calendar/events", "READ_CALENDAR", OPENING)
}

///
#[tokio::test]
async fn a_websocket_is_opened_only_on_a_route_that_is_declared_for_it() {
    let stage = stage(|_| panic!("nothing may get here")).await;
    assert_eq!(refused(&stage.exchange(&opening(&stage)).await), (400, "invalid_request".into()));
    let stage = stage_with(|_| panic!("nothing may get here"), of(RouteStream::Websocket), |_| ()).await;
    assert_eq!(refused(&stage.ask(&stage.read()).await), (400, "invalid_request".into()));
}

///
#[tokio::test]
async fn a_websocket_passes_both_ways_and_is_cut_by_a_revocation() {
    let stage = stage_with(|_| AGREED.into(), of(RouteStream::Websocket), |_| ()).await;
    let mut socket = stage.connect().await;
    socket.write_all(opening(&stage).as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(socket.read_u8().await.unwrap());
    }
    let head = String::from_utf8(head).unwrap().to_lowercase();
    assert!(head.starts_with("http/1.1 101") && head.contains("sec-websocket-accept: x"), "{head}");
    assert!(!head.contains("x-agent-mode"), "{head}");
    assert!(!stage.seen()[0].to_lowercase().contains("origin:"), "{}", stage.seen()[0]);
    socket.write_all(b"echo").await.unwrap();
    let mut echo = [0; 4];
    socket.read_exact(&mut echo).await.unwrap();
    assert_eq!(&echo, b"echo");
    stage.scene.revoke().await.expect(200);
    assert_eq!(read_to_end(&mut socket).await, "");
    assert!(stage.outcomes().await.iter().any(|outcome| outcome == "101 Switching Protocols"));
}

///
#[tokio::test]
async fn a_stream_of_events_is_cut_by_a_revocation_and_seen_to_be() {
    let begun = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\
                 X-No: content-length\r\n\r\n5\r\ndata:\r\n";
    let stage = stage_with(move |_| begun.into(), of(RouteStream::Events), |_| ()).await;
    let mut stream = stage.connect().await;
    stream.write_all(stage.read().as_bytes()).await.unwrap();
    let mut so_far = Vec::new();
    while !so_far.ends_with(b"data:\r\n") {
        so_far.push(stream.read_u8().await.unwrap());
    }
    stage.scene.revoke().await.expect(200);
    assert_eq!(read_to_end(&mut stream).await, "");
}
