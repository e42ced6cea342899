//! A connection on which a request was refused before its body arrived: it continues, or its end is announced.

use countersign_server::{Limits, serve};
use countersign_testkit::{Backend, Kit, bank::GATEWAY};
use std::{net::SocketAddr, time::Duration};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// A request that is refused by its head, the status, and the address.
struct Refused {
    node: SocketAddr,
    line: &'static str,
    host: &'static str,
    status: &'static str,
}

impl Refused {
    fn head(&self, more: &str) -> String {
        let Self { line, host, .. } = self;
        format!("{line} HTTP/1.1\r\nHost: {host}\r\nContent-Type: text/plain\r\nAap-Version: 2.0\r\n{more}\r\n")
    }

    #[expect(clippy::disallowed_methods, reason = "the test is the client")]
    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.node).await.unwrap()
    }
}

/// The head of one response, in lower case; its body is read and discarded.
async fn answer(stream: &mut TcpStream) -> String {
    let answered = async {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.expect("an answer"));
        }
        let head = String::from_utf8(head).unwrap().to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
        let mut body = vec![0; length.parse().unwrap()];
        stream.read_exact(&mut body).await.unwrap();
        head
    };
    tokio::time::timeout(Duration::from_secs(20), answered).await.expect("an answer in time")
}

#[tokio::test]
async fn a_connection_survives_a_refusal_that_comes_before_a_small_body_and_its_end_is_announced_before_any_other() {
    let scene = Kit(Backend::Sqlite).bank().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let public = serve(listener, scene.plane.public.clone(), Limits::default()).unwrap();
    let gateway = GATEWAY.trim_start_matches("https://");
    for refused in [
        Refused { node: public.address(), line: "POST /agent/register", host: "api.example.test", status: "415" },
        Refused { node: public.address(), line: "POST /v1/confirmations", host: "api.example.test", status: "4" },
        Refused { node: scene.gateway.address, line: "POST /notes", host: gateway, status: "401" },
        Refused { node: scene.gateway.address, line: "POST /agent/register", host: gateway, status: "415" },
    ] {
        let mut stream = refused.connect().await;
        for _ in 0..3 {
            stream.write_all(refused.head("Content-Length: 5\r\n").as_bytes()).await.unwrap();
            tokio::task::yield_now().await;
            stream.write_all(b"hello").await.unwrap();
            let head = answer(&mut stream).await;
            assert!(head.starts_with(&format!("http/1.1 {}", refused.status)), "{}: {head}", refused.line);
            assert!(!head.contains("connection: close"), "{}: {head}", refused.line);
        }
        for more in ["Content-Length: 10000000\r\n", "Content-Length: 5\r\nExpect: 100-continue\r\n"] {
            let mut stream = refused.connect().await;
            stream.write_all(refused.head(more).as_bytes()).await.unwrap();
            let head = answer(&mut stream).await;
            assert!(head.contains("connection: close"), "{} with {more}: {head}", refused.line);
            let mut rest = Vec::new();
            let _reset = stream.read_to_end(&mut rest).await;
            assert!(rest.is_empty(), "{}", refused.line);
        }
    }
    assert_eq!(scene.bank.got().len(), 0);
}
