//! A plane with a gateway in front of a scripted service.

use countersign_gateway::{Gateway, GatewaySettings};
use countersign_protocol::{origin::Origin, project::ProjectDocument};
use countersign_testkit::{AgentFixture, Backend, Kit, Setup};
use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::oneshot,
};

pub(crate) const HOST: &str = "gateway.test";

/// The service's response to a request. Empty: it closes the connection.
pub(crate) type Script = Arc<dyn Fn(&str) -> Vec<u8> + Send + Sync>;

pub(crate) struct ProxyFixture {
    pub(crate) fixture: AgentFixture,
    pub(crate) gateway: SocketAddr,
    /// Every request that reached the service, head and body.
    pub(crate) seen: Arc<Mutex<Vec<String>>>,
    pub(crate) stop: Option<oneshot::Sender<()>>,
    pub(crate) served: tokio::task::JoinHandle<()>,
}

pub(crate) async fn proxy(script: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> ProxyFixture {
    proxy_with(script, |_| (), |_| ()).await
}

pub(crate) async fn proxy_with(
    script: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static,
    change: impl FnOnce(&mut ProjectDocument),
    settle: impl FnOnce(&mut GatewaySettings),
) -> ProxyFixture {
    let upstream = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", upstream.local_addr().unwrap());
    let seen = Arc::new(Mutex::new(Vec::new()));
    tokio::spawn(serve(upstream, Arc::new(script), Arc::clone(&seen)));
    let setup = Setup::with_project(|document| {
        document.upstreams = serde_json::from_value(serde_json::json!([{ "id": "main", "url": url }])).unwrap();
        change(document);
    });
    let fixture = Kit(Backend::Sqlite).fixture_with(setup, &["calendar.read", "calendar.write", "mail.invite"]).await;
    let mut settings = GatewaySettings::new(Origin::parse(&format!("https://{HOST}")).unwrap());
    settle(&mut settings);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let gateway = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let listening = Gateway::new(Arc::clone(&fixture.plane.engine), settings).unwrap();
    let served = tokio::spawn(listening.serve(listener, async move { drop(stopped.await) }));
    ProxyFixture { fixture, gateway, seen, stop: Some(stop), served }
}

impl ProxyFixture {
    /// The head of a request of the agent, with further headers.
    pub(crate) fn head(&self, line: &str, intent: &str, more: &str) -> String {
        let agent = &self.fixture.agent;
        let delegation = agent.delegation_id.as_deref().unwrap();
        format!(
            "{line} HTTP/1.1\r\nHost: {HOST}\r\nAap-Version: 2.0\r\nAuthorization: Bearer {}\r\n\
             X-Agent-Mode: user_delegated\r\nX-Agent-Session: {}\r\nX-Agent-Delegation: {delegation}\r\n\
             X-Agent-Intent-Type: {intent}\r\n{more}\r\n",
            agent.access_token, agent.session_id
        )
    }

    pub(crate) fn read(&self) -> String {
        self.head("GET /calendar/events", "READ_CALENDAR", "")
    }

    pub(crate) fn write(&self, body: &str) -> String {
        let more = format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
        self.head("POST /calendar/events", "SCHEDULE_EVENT", &more) + body
    }

    #[expect(clippy::disallowed_methods, reason = "the test is the client")]
    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.gateway).await.unwrap()
    }

    /// Sends bytes and reads the response until the connection ends.
    pub(crate) async fn exchange(&self, bytes: &str) -> String {
        let mut stream = self.connect().await;
        stream.write_all(bytes.as_bytes()).await.unwrap();
        read_to_end(&mut stream).await
    }

    /// The same for one request that closes the connection.
    pub(crate) async fn ask(&self, request: &str) -> String {
        self.exchange(&closing(request)).await
    }

    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }

    /// The outcomes of calls in the audit.
    pub(crate) async fn outcomes(&self) -> Vec<String> {
        let calls = self.fixture.calls().await;
        calls.iter().map(|entry| entry["outcome"].as_str().unwrap().to_owned()).collect()
    }
}

/// The request on a connection that closes after it.
pub(crate) fn closing(request: &str) -> String {
    request.replacen("\r\nAap-Version", "\r\nConnection: close\r\nAap-Version", 1)
}

pub(crate) async fn read_to_end(stream: &mut TcpStream) -> String {
    let mut all = Vec::new();
    let whole = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut all)).await;
    // A reset after the response is an end like any other.
    let _reset = whole.expect("the connection stays open");
    String::from_utf8_lossy(&all).into_owned()
}

pub(crate) fn status(answer: &str) -> u16 {
    answer.split(' ').nth(1).unwrap_or_else(|| panic!("no answer: {answer:?}")).parse().unwrap()
}

/// The status and the code of a refusal's envelope.
pub(crate) fn refused(answer: &str) -> (u16, String) {
    (status(answer), envelope(answer)["error"].as_str().unwrap().to_owned())
}

pub(crate) fn envelope(answer: &str) -> serde_json::Value {
    let body = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {answer:?}")).1;
    serde_json::from_str(body).unwrap_or_else(|why| panic!("{why}: {answer}"))
}

async fn serve(listener: TcpListener, script: Script, seen: Arc<Mutex<Vec<String>>>) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(serve_connection(stream, Arc::clone(&script), Arc::clone(&seen)));
    }
}

async fn serve_connection(mut stream: TcpStream, script: Script, seen: Arc<Mutex<Vec<String>>>) {
    let mut bytes = Vec::new();
    let mut piece = vec![0; 64 * 1024];
    loop {
        let Ok(read @ 1..) = stream.read(&mut piece).await else { return };
        bytes.extend_from_slice(&piece[..read]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if !is_complete(&text) {
            continue;
        }
        bytes.clear();
        seen.lock().unwrap().push(text.clone());
        let answer = script(&text);
        if answer.is_empty() || stream.write_all(&answer).await.is_err() {
            return;
        }
        if answer.starts_with(b"HTTP/1.1 101") {
            let (mut from, mut to) = stream.split();
            let _ended = tokio::io::copy(&mut from, &mut to).await;
            return;
        }
        if !String::from_utf8_lossy(&answer).to_lowercase().contains("content-length") {
            return;
        }
    }
}

pub(crate) fn is_complete(text: &str) -> bool {
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let head = head.to_ascii_lowercase();
    match head.split_once("content-length: ") {
        Some((_, rest)) => body.len() >= rest.split("\r\n").next().unwrap().parse::<usize>().unwrap(),
        None => !head.contains("chunked") || body.ends_with("0\r\n\r\n"),
    }
}
