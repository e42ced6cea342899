//! Streams of events: piece by piece, while the session holds, and audited from open to close.

use crate::{
    peer::{Peer, proxy_to_with, rest, until},
    proxy_fixture::ProxyFixture,
};
use countersign_gateway::GatewaySettings;
use countersign_protocol::project::{ProjectDocument, RouteStream};
use std::time::Duration;
use tokio::{io::AsyncWriteExt as _, net::TcpStream};

const BEGUN: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

fn events(document: &mut ProjectDocument) {
    document.routes[0].stream = Some(RouteStream::Events);
}

/// An open stream, with both of its ends, on which an event has passed.
async fn opened() -> (ProxyFixture, TcpStream, TcpStream) {
    let (proxy, mut caller, mut behind) = opened_with(|_| ()).await;
    passes(&mut behind, &mut caller, "data: 1\n\n").await;
    (proxy, caller, behind)
}

async fn opened_with(settle: impl FnOnce(&mut GatewaySettings)) -> (ProxyFixture, TcpStream, TcpStream) {
    let peer = Peer::open().await;
    let proxy = proxy_to_with(&peer, events, settle).await;
    let (mut caller, mut behind) = peer.receives(&proxy, &proxy.read()).await;
    behind.write_all(BEGUN.as_bytes()).await.unwrap();
    until(&mut caller, |text| text.ends_with("\r\n\r\n")).await;
    (proxy, caller, behind)
}

async fn passes(behind: &mut TcpStream, caller: &mut TcpStream, event: &str) {
    let chunk = format!("{:x}\r\n{event}\r\n", event.len());
    behind.write_all(chunk.as_bytes()).await.unwrap();
    let came = until(caller, |text| text.ends_with(&format!("{event}\r\n"))).await.to_lowercase();
    assert_eq!(came, chunk.to_lowercase());
}

/// The recorded reasons for the ends of streams.
pub(crate) async fn closed(proxy: &ProxyFixture) -> Vec<String> {
    let page = proxy.fixture.audit("event_type=stream_closed&limit=200").await;
    let entries = page["entries"].as_array().unwrap();
    entries.iter().map(|entry| entry["outcome"].as_str().unwrap().to_owned()).collect()
}

///
#[tokio::test]
async fn events_pass_one_by_one_however_long_they_take() {
    let hurried = |settings: &mut GatewaySettings| settings.body_timeout = Duration::from_millis(30);
    let (mut proxy, mut caller, mut behind) = opened_with(hurried).await;
    assert_eq!(proxy.outcomes().await, ["200 OK"], "its opening is recorded before anything of it is seen");
    for event in ["data: 1\n\n", "data: 2\n\n", ": nothing new\n\n"] {
        passes(&mut behind, &mut caller, event).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    behind.write_all(b"0\r\n\r\n").await.unwrap();
    assert_eq!(until(&mut caller, |text| text.ends_with("\r\n\r\n")).await, "0\r\n\r\n");
    proxy.stopped().await;
    assert_eq!(closed(&proxy).await, ["it ended"]);
}

///
#[tokio::test]
async fn a_stream_ends_with_the_token_that_it_was_opened_with() {
    let (mut proxy, mut caller, mut behind) = opened().await;
    let lifetime = proxy.fixture.agent.answer["expires_in"].as_i64().unwrap_or(3600);
    proxy.fixture.plane.advance_secs(lifetime - 1).await;
    passes(&mut behind, &mut caller, "data: 2\n\n").await;
    proxy.fixture.plane.advance_secs(1).await;
    let within_a_second = tokio::time::timeout(Duration::from_secs(1), rest(&mut caller)).await;
    assert_eq!(within_a_second.expect("it goes on"), "", "without the last chunk, so that it is seen to be cut");
    assert_eq!(rest(&mut behind).await, "");
    proxy.stopped().await;
    assert_eq!(closed(&proxy).await, ["access_token_expired"]);
}

///
#[tokio::test]
async fn a_stream_is_cut_within_a_second_of_a_revocation_and_the_audit_says_why() {
    let (mut proxy, mut caller, mut behind) = opened().await;
    proxy.fixture.revoke().await.expect(200);
    let within_a_second = tokio::time::timeout(Duration::from_secs(1), rest(&mut caller)).await;
    assert_eq!(within_a_second.expect("it goes on"), "");
    assert_eq!(rest(&mut behind).await, "");
    proxy.stopped().await;
    assert_eq!(closed(&proxy).await, ["delegation_revoked"]);
}

///
#[tokio::test]
async fn a_caller_that_leaves_a_stream_ends_it_behind_too() {
    let (mut proxy, caller, mut behind) = opened().await;
    drop(caller);
    assert_eq!(rest(&mut behind).await, "");
    proxy.stopped().await;
    assert_eq!(closed(&proxy).await, ["the caller left"]);
}

///
#[tokio::test]
async fn a_stream_that_the_service_breaks_off_is_seen_to_break_off() {
    let (mut proxy, mut caller, behind) = opened().await;
    drop(behind);
    assert_eq!(rest(&mut caller).await, "");
    proxy.stopped().await;
    assert_eq!(closed(&proxy).await, ["the upstream broke it off"]);
}

///
#[tokio::test]
async fn a_stream_ends_when_the_project_changes_under_it() {
    let (mut proxy, mut caller, _behind) = opened().await;
    let mut document = countersign_testkit::calendar("calendar");
    document.display_name = "Without a service behind".into();
    proxy.fixture.plane.engine.apply_project(document, "test").await.unwrap();
    assert_eq!(rest(&mut caller).await, "");
    proxy.stopped().await;
    assert_eq!(closed(&proxy).await.len(), 1);
}
