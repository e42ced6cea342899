//! A service behind the gateway, played by the test: it accepts, reads and answers on the test's command.

use crate::proxy_fixture::{ProxyFixture, is_complete, proxy_with};
use countersign_gateway::GatewaySettings;
use countersign_protocol::project::ProjectDocument;
use std::time::Duration;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

pub(crate) const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Longer than any wait here; a failure when it passes.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Peer(TcpListener);

impl Peer {
    pub(crate) async fn open() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").await.unwrap())
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.0.local_addr().unwrap())
    }

    /// The next connection of the gateway.
    pub(crate) async fn accept(&self) -> TcpStream {
        soon(self.0.accept()).await.unwrap().0
    }

    /// Sends a request through the gateway and reads it here; returns the connections of caller and gateway.
    pub(crate) async fn receives(&self, proxy: &ProxyFixture, sent: &str) -> (TcpStream, TcpStream) {
        let mut caller = proxy.connect().await;
        caller.write_all(sent.as_bytes()).await.unwrap();
        let mut behind = self.accept().await;
        request(&mut behind).await;
        (caller, behind)
    }

    /// Whether a connection is waiting to be accepted.
    pub(crate) async fn is_called(&self) -> bool {
        tokio::time::timeout(Duration::ZERO, self.0.accept()).await.is_ok()
    }
}

/// A proxy with the peer as its service.
pub(crate) async fn proxy_to(peer: &Peer) -> ProxyFixture {
    proxy_to_with(peer, |_| (), |_| ()).await
}

pub(crate) async fn proxy_to_with(
    peer: &Peer,
    change: impl FnOnce(&mut ProjectDocument),
    settle: impl FnOnce(&mut GatewaySettings),
) -> ProxyFixture {
    let there = |document: &mut ProjectDocument| {
        document.upstreams[0].url = peer.url();
        change(document);
    };
    proxy_with(|_| panic!("the peer is the service"), there, settle).await
}

/// Bodies are forwarded as they arrive: none is first compared with an unsettled write.
pub(crate) fn idempotent_writes(document: &mut ProjectDocument) {
    for route in document.routes.iter_mut().filter(|route| route.method != "GET") {
        route.idempotent = Some(true);
    }
}

pub(crate) async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, what).await.expect("it never happens")
}

/// One request, head and body, as on the wire.
pub(crate) async fn request(stream: &mut (impl AsyncRead + Unpin)) -> String {
    until(stream, is_complete).await
}

/// Reads byte by byte until the condition holds, and nothing beyond.
pub(crate) async fn until(stream: &mut (impl AsyncRead + Unpin), enough: impl Fn(&str) -> bool) -> String {
    let mut text = String::new();
    while !enough(&text) {
        match soon(stream.read_u8()).await {
            Ok(byte) => text.push(char::from(byte)),
            Err(why) => panic!("{why} after {text:?}"),
        }
    }
    text
}

/// Reads to the end, clean or not.
pub(crate) async fn rest(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut all = Vec::new();
    let _reset = soon(stream.read_to_end(&mut all)).await;
    String::from_utf8_lossy(&all).into_owned()
}

impl ProxyFixture {
    /// Stops the gateway and waits until no call is in flight.
    pub(crate) async fn stopped(&mut self) {
        drop(self.stop.take());
        soon(&mut self.served).await.unwrap();
    }
}
