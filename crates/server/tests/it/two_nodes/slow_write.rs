//! A bank behind two nodes, and writes with slow callers.

use countersign_engine::{Engine, store::StoreLocation};
use countersign_protocol::project::ProjectDocument;
use countersign_testkit::{
    Answer, Backend, Kit, Plane,
    bank::{BankFixture, GATEWAY, GatewayListener, GatewayRequest},
    postgres,
};
use serde_json::{Value, json};
use std::{net::SocketAddr, process::Command, sync::Arc, time::Duration};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{
        TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
};

/// A timeout that only a failing test reaches.
const LONG: Duration = Duration::from_secs(30);

/// Access is ended at the first node; writes are sent through either.
pub(super) struct TwoGateways {
    pub(super) scene: BankFixture,
    pub(super) first: GatewayListener,
    pub(super) second: GatewayListener,
    _engine: Arc<Engine>,
}

impl TwoGateways {
    /// A body is forwarded as it arrives, even a short one.
    pub(super) async fn open() -> Self {
        // Bodies are forwarded as they arrive: none is first compared with an unsettled write.
        let idempotent = |document: &mut ProjectDocument| {
            for route in document.routes.iter_mut().filter(|route| route.method != "GET") {
                route.idempotent = Some(true);
            }
        };
        let scene = Kit(Backend::Postgres).bank_with(idempotent).await;
        let (engine, _) = scene.plane.second_node().await;
        let first = GatewayListener::of(&scene.plane, |settings| settings.buffer_limit = 4).await;
        let second = GatewayListener::open(&engine, |settings| settings.buffer_limit = 4).await;
        // This long after their start the nodes demand no nonce.
        scene.plane.advance_secs(700).await;
        Self { scene, first, second, _engine: engine }
    }

    /// Sends all but the last few bytes of a write.
    pub(super) async fn begins(&self, node: &GatewayListener, number: usize) -> SlowWrite {
        SlowWrite::begin(&self.scene, node.address, number).await
    }

    pub(super) async fn revokes(&self) -> Answer {
        let body = json!({ "delegation_id": self.scene.connected.delegation_id, "reason": "user_requested" });
        self.scene.alice.post(&self.scene.plane, "/agent/revoke", &body).await
    }

    /// The outcomes of all calls, from the audit.
    pub(super) async fn outcomes(&self) -> Vec<String> {
        let entries: Vec<Value> = self.scene.calls().await;
        entries.iter().map(|entry| entry["outcome"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// The writes that the bank received completely, by the ends of their notes.
    pub(super) fn written(&self, end: Rest) -> usize {
        let end = end.text().as_bytes();
        self.scene.bank.effects().iter().filter(|got| got.body.ends_with(end)).count()
    }
}

/// The end of a body: whether the bank may receive it.
#[derive(Clone, Copy)]
pub(super) enum Rest {
    /// Sent before or while access was ended.
    InTime,
    /// Sent after the response to the end of access.
    Late,
}

impl Rest {
    const fn text(self) -> &'static str {
        match self {
            Self::InTime => "early\"}",
            Self::Late => "later\"}",
        }
    }
}

/// A write with its head and the beginning of its body at the gateway.
pub(super) struct SlowWrite {
    reading: OwnedReadHalf,
    writing: OwnedWriteHalf,
}

impl SlowWrite {
    #[expect(clippy::disallowed_methods, reason = "a test's client connects to the test's own gateway")]
    async fn begin(scene: &BankFixture, node: SocketAddr, number: usize) -> Self {
        let beginning = format!("{{\"note\":\"{number} ");
        let length = beginning.len() + Rest::Late.text().len();
        let sent = scene.authenticated(
            &scene.agent,
            GatewayRequest::new("POST", "/notes").with("content-type", "application/json"),
        );
        let headers: String = sent.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let host = GATEWAY.trim_start_matches("https://");
        let head = format!(
            "POST /notes HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n"
        );
        let (reading, mut writing) = TcpStream::connect(node).await.unwrap().into_split();
        writing.write_all(format!("{head}{beginning}").as_bytes()).await.unwrap();
        Self { reading, writing }
    }

    /// A gateway that has cut it may have closed the connection.
    pub(super) async fn sends(&mut self, rest: Rest) {
        let _closed = self.writing.write_all(rest.text().as_bytes()).await;
    }

    /// The status of its response; 0 for a connection that was closed without one.
    pub(super) async fn status(mut self) -> u16 {
        let mut all = Vec::new();
        let whole = tokio::time::timeout(LONG, self.reading.read_to_end(&mut all)).await;
        let _reset = whole.expect("the connection stays open");
        String::from_utf8_lossy(&all).split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0)
    }
}

/// Paused: the PostgreSQL process from which the last started node reads the feed.
pub(super) struct Unread(String);

impl Unread {
    pub(super) async fn by_the_second_node(plane: &Plane) -> Self {
        let StoreLocation::Postgres(place) = &plane.place else { panic!("two nodes") };
        let last = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() \
             AND query LIKE 'WITH behind%' ORDER BY backend_start DESC LIMIT 1";
        let pid = postgres::run(&place.url, last).await.trim().to_owned();
        signal("-STOP", &pid);
        Self(pid)
    }
}

impl Drop for Unread {
    fn drop(&mut self) {
        signal("-CONT", &self.0);
    }
}

fn signal(which: &str, pid: &str) {
    let sent = Command::new("kill").args([which, pid]).status();
    assert!(sent.is_ok_and(|status| status.success()), "kill {which} {pid:?}");
}
