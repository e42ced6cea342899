//! WebSockets with a third-party client, and every malformed handshake.

use crate::{
    peer::soon,
    stage::{refused, stage, stage_with},
    streams::closed,
};
use countersign_protocol::project::{ProjectDocument, RouteStream};
use countersign_testkit::{
    Backend, Kit,
    bank::{BankScene, GATEWAY, GatewayRequest},
};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{Message, client::IntoClientRequest as _},
};

fn websocket(document: &mut ProjectDocument) {
    document.routes[0].stream = Some(RouteStream::Websocket);
}

/// The ticker of the bank, opened by the client library with a token and a proof.
#[expect(clippy::disallowed_methods, reason = "the test is the client")]
async fn ticker(scene: &BankScene) -> WebSocketStream<TcpStream> {
    for _ in 0..2 {
        let mut opening = format!("{}/ticker", GATEWAY.replace("https", "ws")).into_client_request().unwrap();
        for (name, value) in scene.dressed(&scene.agent, GatewayRequest::new("GET", "/ticker")).headers {
            let name: http::HeaderName = name.parse().unwrap();
            opening.headers_mut().insert(name, value.parse().unwrap());
        }
        let stream = TcpStream::connect(scene.gateway.address).await.unwrap();
        match client_async(opening, stream).await {
            Ok((socket, _)) => return socket,
            Err(tokio_tungstenite::tungstenite::Error::Http(answer)) if answer.status() == 401 => {
                scene.agent.takes_nonce(answer.headers().get("dpop-nonce").map(|nonce| nonce.to_str().unwrap()));
            }
            Err(why) => panic!("{why}"),
        }
    }
    panic!("no nonce was good enough")
}

async fn ends(scene: &BankScene) -> Vec<Value> {
    let query =
        format!("/agent/audit?delegation_id={}&event_type=stream_closed&limit=200", scene.connected.delegation_id);
    scene.alice.get(&scene.plane, &query).await.expect(200).json()["entries"].as_array().unwrap().clone()
}

async fn echoes(socket: &mut WebSocketStream<TcpStream>, text: &str) {
    socket.send(Message::text(text)).await.unwrap();
    let heard = soon(socket.next()).await.unwrap().unwrap();
    assert_eq!(heard.into_text().unwrap().as_str(), text);
}

///
#[tokio::test]
async fn a_foreign_client_talks_both_ways_until_the_session_is_over() {
    let scene = Kit(Backend::Sqlite).bank().await;
    let mut socket = ticker(&scene).await;
    assert_eq!(scene.calls().await[0]["outcome"], "101 Switching Protocols", "recorded before anything was said");
    for text in ["price?", "\u{20ac} 82,000", &"x".repeat(100_000)] {
        echoes(&mut socket, text).await;
    }
    let got = scene.bank.got().pop().unwrap();
    assert_eq!(got.headers["authorization"], "Bearer the-banks-own-secret");
    assert!(!got.headers.contains_key("dpop") && !got.headers.contains_key("x-agent-mode"), "{:?}", got.headers);
    scene.plane.advance_secs(3600).await;
    let over = tokio::time::timeout(std::time::Duration::from_secs(1), socket.next()).await;
    assert!(!matches!(over.expect("it goes on"), Some(Ok(Message::Text(_)))));
    let ends = until_closed(&scene).await;
    assert_eq!(ends[0]["outcome"], "access_token_expired", "{ends:?}");
}

/// The end is recorded a moment after the caller sees it.
async fn until_closed(scene: &BankScene) -> Vec<Value> {
    for _ in 0..500 {
        let ends = ends(scene).await;
        if !ends.is_empty() {
            return ends;
        }
        tokio::task::yield_now().await;
    }
    panic!("the end of the stream is not in the audit")
}

///
#[tokio::test]
async fn a_socket_that_its_caller_closes_is_closed_behind_and_in_the_audit() {
    let scene = Kit(Backend::Sqlite).bank().await;
    let mut socket = ticker(&scene).await;
    echoes(&mut socket, "one").await;
    socket.close(None).await.unwrap();
    while let Some(Ok(_)) = soon(socket.next()).await {}
    drop(socket);
    let ends = until_closed(&scene).await;
    assert_eq!(ends.len(), 1, "{ends:?}");
}

///
#[tokio::test]
async fn only_a_websocket_handshake_opens_a_websocket() {
    let stage = stage_with(|_| panic!("nothing may get here"), websocket, |_| ()).await;
    let (up, key, version) =
        ("Connection: Upgrade\r\nUpgrade: websocket\r\n", "Sec-WebSocket-Key: k\r\n", "Sec-WebSocket-Version: 13\r\n");
    for more in [
        format!("{up}{key}"),
        format!("{up}{version}"),
        format!("{up}{key}{key}{version}"),
        format!("{up}{key}Sec-WebSocket-Version: 8\r\n"),
        format!("Upgrade: websocket\r\n{key}{version}"),
        format!("Connection: Upgrade\r\n{key}{version}"),
        format!("Connection: Upgrade\r\nUpgrade: h2c\r\n{key}{version}"),
        format!("Connection: Upgrade\r\nUpgrade: websocket, h2c\r\n{key}{version}"),
        format!("{up}Upgrade: h2c\r\n{key}{version}"),
        format!("{up}{key}{version}Content-Length: 4\r\n"),
        String::new(),
    ] {
        let answer = stage.ask(&stage.head("GET /calendar/events", "READ_CALENDAR", &more)).await;
        assert_eq!(refused(&answer), (400, "invalid_request".into()), "{more}");
    }
    let outcomes = stage.outcomes().await;
    assert!(outcomes.iter().all(|outcome| outcome == "400 invalid_request"), "{outcomes:?}");
    assert!(closed(&stage).await.is_empty());
}

///
#[tokio::test]
async fn nothing_is_upgraded_where_no_websocket_is_declared() {
    let stage = stage(|_| panic!("nothing may get here")).await;
    let more = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\nSec-WebSocket-Version: 13\r\n";
    let decision = "POST /.countersign/decisions/dec_x/redeem";
    for (line, intent) in [
        ("GET /calendar/events", "READ_CALENDAR"),
        ("GET /calendar/events/1", "READ_CALENDAR"),
        ("POST /calendar/events", "SCHEDULE_EVENT"),
        ("POST /mail/invitations", "SEND_INVITATION"),
        (decision, "SEND_INVITATION"),
    ] {
        let answer = stage.exchange(&stage.head(line, intent, more)).await;
        assert_eq!(refused(&answer), (400, "invalid_request".into()), "{line}");
    }
    assert_eq!(stage.scene.alice.waiting_questions(&stage.scene.plane).await, 0);
}

///
#[tokio::test]
async fn a_project_cannot_declare_a_stream_for_a_route_that_needs_approval() {
    let plane = Kit(Backend::Sqlite).plane().await;
    for (stream, method) in [(RouteStream::Websocket, "GET"), (RouteStream::Events, "POST")] {
        let mut document = countersign_testkit::calendar("calendar");
        let invite = document.routes.iter_mut().find(|route| route.id == "invite").unwrap();
        (invite.stream, invite.method) = (Some(stream), method.into());
        assert!(plane.engine.apply_project(document, "test").await.is_err(), "{stream:?} by its scope");
        let mut document = countersign_testkit::calendar("calendar");
        (document.routes[0].stream, document.routes[0].irreversible) = (Some(stream), Some(true));
        assert!(plane.engine.apply_project(document, "test").await.is_err(), "{stream:?} by its route");
    }
    let mut document = countersign_testkit::calendar("calendar");
    document.routes[2].stream = Some(RouteStream::Websocket);
    assert!(plane.engine.apply_project(document, "test").await.is_err(), "a socket is opened with GET");
}
