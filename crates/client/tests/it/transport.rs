//! Outgoing requests: guarded, with plain http only to this machine and only if configured.

use crate::{
    fixture::{manifest, operator},
    operator_host::{OperatorHost, TestCa},
    service::MANIFEST,
    site::fetcher,
};
use countersign_client::{
    agent::{Agent, AgentConfig, DiscoverError, Notice},
    transport::{FetchError, Request, Transport, Unreachable, WithLoopback},
};
use countersign_outbound::{Fetcher, FetcherConfig};
use countersign_protocol::origin::Origin;
use serde_json::json;
use std::sync::{Arc, Mutex};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
    task::JoinHandle,
};

#[tokio::test]
async fn an_agent_discovers_over_the_guarded_client() {
    let ca = TestCa::new();
    let host = OperatorHost::start(&ca, "calendar.test").await;
    let mut published = manifest();
    published["service"] = json!("https://calendar.test");
    host.set_document(MANIFEST, published.to_string().into_bytes());
    let mut agent = agent("https://calendar.test", Arc::new(fetcher(&ca, &host)));
    assert_eq!(agent.discover().await.unwrap().service, "https://calendar.test");
}

#[tokio::test]
async fn plain_http_reaches_this_machine_only_when_it_was_chosen() {
    let (origin, server) = answer_once(json!({}).to_string()).await;
    let bad = Err(DiscoverError::Unreachable(Unreachable::Fetch(FetchError::Url(
        countersign_outbound::target::BadUrl::NotHttps,
    ))));
    assert_eq!(agent(&origin, Arc::new(plain())).discover().await, bad);
    drop(server);

    let mut published = manifest();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    published["service"] = json!(origin);
    let server = serve(listener, published.to_string());
    assert_eq!(agent(&origin, Arc::new(WithLoopback(plain()))).discover().await.unwrap().service, origin);
    let seen = server.await.unwrap();
    assert!(seen.starts_with(&format!("GET {MANIFEST} HTTP/1.1\r\n")), "{seen}");
    assert!(seen.contains("aap-version: 2.0") && seen.contains(&format!("host: {}", &origin[7..])), "{seen}");
}

#[tokio::test]
async fn plain_http_goes_nowhere_else() {
    let transport = WithLoopback(plain());
    for url in ["http://192.0.2.1/", "http://example.com/", "http://localhost.example.com/", "http://[2001:db8::1]/"] {
        assert_eq!(transport.send(Request::get(url)).await.unwrap_err(), Unreachable::NotLoopback, "{url}");
    }
}

#[tokio::test]
async fn an_endless_answer_is_cut_off() {
    let (origin, server) = answer_once("x".repeat(70_000)).await;
    let error = WithLoopback(plain()).send(Request::get(origin)).await.unwrap_err();
    assert_eq!(error, Unreachable::Fetch(FetchError::TooLarge { cap: 64 * 1024, status: 200 }));
    drop(server);
}

fn agent(service: &str, transport: Arc<dyn Transport>) -> Agent {
    let told: Arc<Mutex<Vec<Notice>>> = Arc::default();
    let opened: Arc<Mutex<Vec<String>>> = Arc::default();
    Agent::new(AgentConfig::new(Origin::parse(service).unwrap()), operator(), transport, told, opened)
}

fn plain() -> Fetcher {
    Fetcher::new(FetcherConfig { native_roots: false, ..FetcherConfig::default() }).unwrap()
}

async fn answer_once(body: String) -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    (format!("http://{}", listener.local_addr().unwrap()), serve(listener, body))
}

/// Responds to one request; the handle returns the request text.
fn serve(listener: TcpListener, body: String) -> JoinHandle<String> {
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut seen = String::new();
        while !seen.ends_with("\r\n\r\n") {
            seen.push(char::from(stream.read_u8().await.unwrap()));
        }
        let head =
            format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
        let _sent = stream.write_all(format!("{head}{body}").as_bytes()).await;
        seen
    })
}
