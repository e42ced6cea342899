//! WebSockets with a third-party client, and every malformed handshake.

use crate::{
    peer::{rest, soon, until},
    proxy_fixture::{proxy, proxy_with, refused},
    streams::closed,
};
use countersign_protocol::project::{ProjectDocument, RouteStream};
use countersign_testkit::{
    Backend, Kit,
    bank::{BankFixture, GATEWAY, GatewayRequest},
    deadline,
};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::Value;
use tokio::{io::AsyncWriteExt as _, net::TcpStream};
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{Message, client::IntoClientRequest as _},
};

const AGREED: &str = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                      Sec-WebSocket-Accept: x\r\nX-Agent-Mode: made up\r\n\r\n";
const OPENING: &str = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\n\
                       Sec-WebSocket-Version: 13\r\nOrigin: https://a.test\r\n";

fn websocket(document: &mut ProjectDocument) {
    document.routes[0].stream = Some(RouteStream::Websocket);
}

/// The ticker of the bank, opened by the client library with a token and a proof.
#[expect(clippy::disallowed_methods, reason = "the test is the client")]
async fn ticker(fixture: &BankFixture) -> WebSocketStream<TcpStream> {
    for _ in 0..2 {
        let mut opening = format!("{}/ticker", GATEWAY.replace("https", "ws")).into_client_request().unwrap();
        for (name, value) in fixture.authenticated(&fixture.agent, GatewayRequest::new("GET", "/ticker")).headers {
            let name: http::HeaderName = name.parse().unwrap();
            opening.headers_mut().insert(name, value.parse().unwrap());
        }
        let stream = TcpStream::connect(fixture.gateway.address).await.unwrap();
        match client_async(opening, stream).await {
            Ok((socket, _)) => return socket,
            Err(tokio_tungstenite::tungstenite::Error::Http(answer)) if answer.status() == 401 => {
                fixture.agent.takes_nonce(answer.headers().get("dpop-nonce").map(|nonce| nonce.to_str().unwrap()));
            }
            Err(why) => panic!("{why}"),
        }
    }
    panic!("no nonce was good enough")
}

async fn ends(fixture: &BankFixture) -> Vec<Value> {
    let query =
        format!("/agent/audit?delegation_id={}&event_type=stream_closed&limit=200", fixture.connected.delegation_id);
    fixture.alice.get(&fixture.plane, &query).await.expect(200).json()["entries"].as_array().unwrap().clone()
}

async fn echoes(socket: &mut WebSocketStream<TcpStream>, text: &str) {
    socket.send(Message::text(text)).await.unwrap();
    let heard = soon(socket.next()).await.unwrap().unwrap();
    assert_eq!(heard.into_text().unwrap().as_str(), text);
}

///
#[tokio::test]
async fn a_foreign_client_talks_both_ways_until_the_session_is_over() {
    let fixture = Kit(Backend::Sqlite).bank().await;
    let mut socket = ticker(&fixture).await;
    assert_eq!(fixture.calls().await[0]["outcome"], "101 Switching Protocols", "recorded before anything was said");
    for text in ["price?", "\u{20ac} 82,000", &"x".repeat(100_000)] {
        echoes(&mut socket, text).await;
    }
    let got = fixture.bank.got().pop().unwrap();
    assert_eq!(got.headers["authorization"], "Bearer the-banks-own-secret");
    assert!(!got.headers.contains_key("dpop") && !got.headers.contains_key("x-agent-mode"), "{:?}", got.headers);
    fixture.plane.advance_secs(3600).await;
    let over = tokio::time::timeout(std::time::Duration::from_secs(1), socket.next()).await;
    assert!(!matches!(over.expect("it goes on"), Some(Ok(Message::Text(_)))));
    let ends = until_closed(&fixture).await;
    assert_eq!(ends[0]["outcome"], "access_token_expired", "{ends:?}");
}

/// The end is recorded a moment after the caller sees it.
async fn until_closed(fixture: &BankFixture) -> Vec<Value> {
    deadline::until("the record of the stream's end", async || !ends(fixture).await.is_empty()).await;
    ends(fixture).await
}

///
#[tokio::test]
async fn a_socket_that_its_caller_closes_is_closed_behind_and_in_the_audit() {
    let fixture = Kit(Backend::Sqlite).bank().await;
    let mut socket = ticker(&fixture).await;
    echoes(&mut socket, "one").await;
    socket.close(None).await.unwrap();
    while let Some(Ok(_)) = soon(socket.next()).await {}
    drop(socket);
    let ends = until_closed(&fixture).await;
    assert_eq!(ends.len(), 1, "{ends:?}");
}

///
#[tokio::test]
async fn only_a_websocket_handshake_opens_a_websocket() {
    let proxy = proxy_with(|_| panic!("nothing may get here"), websocket, |_| ()).await;
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
        let answer = proxy.ask(&proxy.head("GET /calendar/events", "READ_CALENDAR", &more)).await;
        assert_eq!(refused(&answer), (400, "invalid_request".into()), "{more}");
    }
    let outcomes = proxy.outcomes().await;
    assert!(outcomes.iter().all(|outcome| outcome == "400 invalid_request"), "{outcomes:?}");
    assert!(closed(&proxy).await.is_empty());
}

///
#[tokio::test]
async fn a_websocket_passes_both_ways_and_is_cut_by_a_revocation() {
    let proxy = proxy_with(|_| AGREED.into(), websocket, |_| ()).await;
    let mut socket = proxy.connect().await;
    let opening = proxy.head("GET /calendar/events", "READ_CALENDAR", OPENING);
    socket.write_all(opening.as_bytes()).await.unwrap();
    let head = until(&mut socket, |text| text.ends_with("\r\n\r\n")).await.to_lowercase();
    assert!(head.starts_with("http/1.1 101") && head.contains("sec-websocket-accept: x"), "{head}");
    assert!(!head.contains("x-agent-mode"), "{head}");
    assert!(!proxy.seen()[0].to_lowercase().contains("origin:"), "{}", proxy.seen()[0]);
    socket.write_all(b"echo").await.unwrap();
    assert_eq!(until(&mut socket, |text| text.len() == 4).await, "echo");
    proxy.fixture.revoke().await.expect(200);
    assert_eq!(rest(&mut socket).await, "");
    assert!(proxy.outcomes().await.iter().any(|outcome| outcome == "101 Switching Protocols"));
}

///
#[tokio::test]
async fn a_websocket_is_opened_on_routes_that_declare_it_and_nothing_else_is_there() {
    let proxy = proxy(|_| panic!("nothing may get here")).await;
    let decision = "POST /.countersign/decisions/dec_x/redeem";
    for (line, intent) in [
        ("GET /calendar/events", "READ_CALENDAR"),
        ("GET /calendar/events/1", "READ_CALENDAR"),
        ("POST /calendar/events", "SCHEDULE_EVENT"),
        ("POST /mail/invitations", "SEND_INVITATION"),
        (decision, "SEND_INVITATION"),
    ] {
        let answer = proxy.exchange(&proxy.head(line, intent, OPENING)).await;
        assert_eq!(refused(&answer), (400, "invalid_request".into()), "{line}");
    }
    assert_eq!(proxy.fixture.alice.pending_questions(&proxy.fixture.plane).await, 0);
    let proxy = proxy_with(|_| panic!("nothing may get here"), websocket, |_| ()).await;
    assert_eq!(refused(&proxy.ask(&proxy.read()).await), (400, "invalid_request".into()));
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
