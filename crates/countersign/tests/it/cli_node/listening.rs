//! A subscriber beside the command line: an event stream or a WebSocket over a real connection.

use crate::cli_folder::{Answer, Served};
use serde_json::json;
use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    time::Duration,
};

/// The time limit for immediate effects on a busy machine.
const AT_ONCE: Duration = Duration::from_secs(10);

pub(super) struct Stream {
    connection: TcpStream,
    heard: Vec<u8>,
    /// The number of keep-alive comments received.
    idle: usize,
}

impl Stream {
    /// Opens the server-sent events of a new subscription.
    pub(super) fn of_events(node: &Served, token: &str) -> Self {
        let subscription = subscription_of(node, token).json()["subscription_id"].as_str().unwrap().to_owned();
        let path = format!("/aaep/v1/events?subscription_id={subscription}");
        Self::open(
            node,
            &format!(
                "GET {path} HTTP/1.1\r\nHost: localhost:8420\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\r\n"
            ),
        )
    }

    /// Opens a WebSocket and subscribes.
    pub(super) fn of_socket(node: &Served, token: &str) -> Self {
        let mut stream = Self::open(
            node,
            &format!(
                "GET /aaep/v1/ws HTTP/1.1\r\nHost: localhost:8420\r\nAuthorization: Bearer {token}\r\n\
                 Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                 Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: aaep.v1\r\n\r\n"
            ),
        );
        stream.send_text(&request());
        stream.until("subscription.accepted");
        stream
    }

    fn open(node: &Served, request: &str) -> Self {
        let mut connection = node.connect("public");
        connection.set_read_timeout(Some(AT_ONCE)).unwrap();
        connection.write_all(request.as_bytes()).unwrap();
        let mut stream = Self { connection, heard: Vec::new(), idle: 0 };
        let head = stream.until("\r\n\r\n");
        assert!(head.starts_with("HTTP/1.1 200") || head.starts_with("HTTP/1.1 101"), "{head}");
        stream
    }

    /// Sends one text frame, masked with zeros, which leave it unchanged.
    fn send_text(&mut self, text: &str) {
        let length = u16::try_from(text.len()).unwrap().to_be_bytes();
        let head = [0x81, 0xFE, length[0], length[1], 0, 0, 0, 0];
        self.connection.write_all(&[&head, text.as_bytes()].concat()).unwrap();
    }

    /// Reads up to and including the first occurrence of this text.
    pub(super) fn until(&mut self, text: impl AsRef<[u8]>) -> String {
        let text = text.as_ref();
        loop {
            let found = self.heard.windows(text.len()).position(|window| window == text);
            if let Some(at) = found {
                let said: Vec<u8> = self.heard.drain(..at + text.len()).collect();
                return String::from_utf8_lossy(&said).into_owned();
            }
            let said = String::from_utf8_lossy(&self.heard).into_owned();
            assert!(self.read(), "it ended before it said {}: {said}", String::from_utf8_lossy(text));
        }
    }

    /// Reads until the node closes the stream.
    pub(super) fn rest(mut self) -> String {
        while self.read() {}
        String::from_utf8_lossy(&self.heard).into_owned()
    }

    /// Reads more; false at the end of the stream. An idle node sends a comment every ten seconds: a third one is too
    /// late.
    fn read(&mut self) -> bool {
        let mut piece = [0; 4096];
        let read = self.connection.read(&mut piece).unwrap_or_else(|why| {
            panic!("it neither ended nor said anything: {why}; last heard: {}", String::from_utf8_lossy(&self.heard))
        });
        let said = &piece[..read];
        self.idle += usize::from(said.windows(3).any(|window| window == b":\n\n"));
        assert!(self.idle < 3, "it goes on, and says nothing: {}", String::from_utf8_lossy(&self.heard));
        self.heard.extend_from_slice(said);
        read > 0
    }
}

pub(super) fn subscription_of(node: &Served, token: &str) -> Answer {
    node.ask("POST", "/aaep/v1/subscriptions", &format!("Authorization: Bearer {token}\r\n"), &request())
}

fn request() -> String {
    countersign_testkit::aaep::subscription_request(json!({})).to_string()
}
