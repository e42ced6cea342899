//! The public listener on the open network: silent connections are closed, and no client takes every slot.

mod deadlines;
mod shares;

use countersign_gateway::Network;
use countersign_server::{Limits, ServedListener, serve_behind};
use countersign_testkit::{Backend, Kit, Plane};
use std::{net::SocketAddr, time::Duration};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpSocket, TcpStream},
};

/// Longer than any deadline of these tests, shorter than a node's defaults.
const SOON: Duration = Duration::from_secs(5);
const SHORT: Duration = Duration::from_millis(150);
const LONG: Duration = Duration::from_secs(60);

/// Deadlines longer than a test.
fn patient() -> Limits {
    Limits { first_byte: LONG, header_read: LONG, idle: LONG, ..Limits::default() }
}

struct Door {
    plane: Plane,
    serving: ServedListener,
}

async fn door(limits: Limits, trusted: &[&str]) -> Door {
    let plane = Kit(Backend::Sqlite).plane().await;
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let trusted = trusted.iter().map(|text| Network::parse(text).unwrap()).collect();
    let serving = serve_behind(listener, plane.public.clone(), limits, trusted).unwrap();
    Door { plane, serving }
}

impl Door {
    async fn connect(&self) -> TcpStream {
        self.connect_from("127.0.0.1").await
    }

    #[expect(clippy::disallowed_methods, reason = "the test is the client")]
    async fn connect_from(&self, address: &str) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::new(address.parse().unwrap(), 0)).unwrap();
        let port = self.serving.address().port();
        socket.connect(SocketAddr::new("127.0.0.1".parse().unwrap(), port)).await.unwrap()
    }
}

const REQUEST: &str = "GET /session HTTP/1.1\r\nHost: api.example.test\r\n\r\n";

/// Whether a request on this connection is answered soon.
async fn answers(stream: &mut TcpStream) -> bool {
    let asked = async {
        stream.write_all(REQUEST.as_bytes()).await?;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await?);
        }
        let head = String::from_utf8(head).unwrap().to_lowercase();
        assert!(head.starts_with("http/1.1 401"), "{head}");
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        stream.read_exact(&mut vec![0; length.parse().unwrap()]).await
    };
    matches!(tokio::time::timeout(SOON, asked).await, Ok(Ok(_)))
}

/// Whether the peer closes this connection soon, after any output.
async fn closes(stream: &mut TcpStream) -> bool {
    let mut rest = Vec::new();
    tokio::time::timeout(SOON, stream.read_to_end(&mut rest)).await.is_ok()
}
