//! The bank's own service: a real server on loopback that executes and records requests.

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::{body::Frame, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use std::{
    convert::Infallible,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::{Notify, watch},
};

/// One request as the service received it, byte for byte.
#[derive(Clone, Debug)]
pub struct Got {
    pub method: Method,
    pub target: String,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Got {
    pub fn is_dry_run(&self) -> bool {
        let in_query = self.target.split(['?', '&']).skip(1).any(|pair| pair == "dry_run=true");
        in_query || self.headers.get("x-agent-dry-run").is_some_and(|value| value == "true")
    }
}

/// The service's behaviour.
#[derive(Clone, Debug, Default)]
pub enum Manner {
    /// 201 for a POST, 200 otherwise, with a short JSON body.
    #[default]
    Obliging,
    /// This status; from 400 on, without any effect.
    Status(u16),
    /// This status without any effect, declared by `Countersign-Effect: none`.
    NoEffect(u16),
    /// Executes the request, and responds only when [`Bank::release_response`] is called.
    Thoughtful,
    /// Executes the request, and closes the connection without a response.
    Vanishing,
    /// Closes the connection before it has read the request.
    Deaf,
    /// Executes the request, and responds with something that is not HTTP.
    Garbage,
    /// This many bytes with a Content-Length.
    Sized(usize),
    /// This many bytes without one, in chunks of a thousand.
    Unsized(usize),
    /// An event at intervals, for ever.
    Events,
}

/// A running service. Executed writes are effects.
#[derive(Clone)]
pub struct Bank {
    shared: Arc<BankState>,
    pub address: SocketAddr,
}

#[derive(Default)]
struct BankState {
    got: Mutex<Vec<Got>>,
    manner: Mutex<Manner>,
    reads: Mutex<Option<(u16, String)>>,
    writes: Mutex<Option<String>>,
    header: Mutex<Option<(&'static str, String)>>,
    answer: Notify,
    arrived: Notify,
    begun: watch::Sender<usize>,
}

type BankBody = UnsyncBoxBody<Bytes, Infallible>;

impl Bank {
    pub async fn open() -> Self {
        Self::open_at("127.0.0.1:0".parse().expect("loopback")).await
    }

    pub async fn open_at(address: SocketAddr) -> Self {
        let listener = TcpListener::bind(address).await.expect("a free port");
        let address = listener.local_addr().expect("its address");
        let bank = Self { shared: Arc::default(), address };
        tokio::spawn(bank.clone().serve(listener));
        bank
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every received request, in order.
    pub fn got(&self) -> Vec<Got> {
        self.shared.got.lock().unwrap().clone()
    }

    /// The writes among them: the irrevocable effects. The bank only previews a dry run.
    pub fn effects(&self) -> Vec<Got> {
        let is_write = |got: &Got| got.method != Method::GET && got.method != Method::HEAD && !got.is_dry_run();
        self.got().into_iter().filter(is_write).collect()
    }

    pub fn set_manner(&self, manner: Manner) {
        *self.shared.manner.lock().unwrap() = manner;
    }

    /// Answers every GET with this from now on, in every manner that keeps the connection.
    pub fn set_read_response(&self, status: u16, body: &str) {
        *self.shared.reads.lock().unwrap() = Some((status, body.to_owned()));
    }

    /// The body of every 201 from now on, in every manner that keeps the connection and obliges.
    pub fn set_write_response(&self, body: &str) {
        *self.shared.writes.lock().unwrap() = Some(body.to_owned());
    }

    /// Adds this header to every response from now on, in every manner that keeps the connection.
    pub fn set_response_header(&self, name: &'static str, value: &str) {
        *self.shared.header.lock().unwrap() = Some((name, value.to_owned()));
    }

    /// The received GETs.
    pub fn reads(&self) -> Vec<Got> {
        self.got().into_iter().filter(|got| got.method == Method::GET).collect()
    }

    /// Releases one delayed response.
    pub fn release_response(&self) {
        self.shared.answer.notify_one();
    }

    /// Waits until the next request has arrived and, if it is a write, was executed.
    pub async fn next_arrival(&self) {
        self.shared.arrived.notified().await;
    }

    /// Waits until the heads of this many requests have arrived.
    pub async fn wait_for_requests(&self, requests: usize) {
        let begun = self.shared.begun.subscribe().wait_for(|begun| *begun >= requests).await.map(drop);
        begun.expect("the bank is open");
    }

    async fn serve(self, listener: TcpListener) {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(self.clone().serve_connection(stream));
        }
    }

    async fn serve_connection(self, stream: TcpStream) {
        let manner = self.manner();
        match manner {
            Manner::Deaf => drop(stream),
            Manner::Vanishing | Manner::Garbage => self.misbehave(stream, &manner).await,
            _ => {
                let bank = self.clone();
                let service = service_fn(move |request| {
                    let bank = bank.clone();
                    async move {
                        let mut response = bank.answer(request).await;
                        if let Some((name, value)) = bank.shared.header.lock().unwrap().clone() {
                            response.headers_mut().insert(name, value.parse().expect("a header"));
                        }
                        Ok::<_, Infallible>(response)
                    }
                });
                let served = http1::Builder::new().serve_connection(TokioIo::new(stream), service).with_upgrades();
                let _closed = served.await;
            }
        }
    }

    /// Reads and executes one request by hand, and then misbehaves.
    async fn misbehave(&self, mut stream: TcpStream, manner: &Manner) {
        let mut bytes = Vec::new();
        let mut chunk = [0; 4096];
        while !is_complete(&bytes) {
            match stream.read(&mut chunk).await {
                Ok(0) | Err(_) => return,
                Ok(n) => bytes.extend_from_slice(&chunk[..n]),
            }
        }
        self.record(parse(&bytes));
        if matches!(manner, Manner::Garbage) {
            let _sent = stream.write_all(b"HTTQ/9 nonsense\r\n\x00\x01\r\n\r\n").await;
        }
    }

    fn manner(&self) -> Manner {
        self.shared.manner.lock().unwrap().clone()
    }

    fn record(&self, got: Got) {
        self.shared.got.lock().unwrap().push(got);
        self.shared.arrived.notify_one();
    }

    async fn answer(&self, mut request: Request<Incoming>) -> Response<BankBody> {
        let upgrade = request.headers().contains_key("upgrade").then(|| hyper::upgrade::on(&mut request));
        let (parts, body) = request.into_parts();
        self.shared.begun.send_modify(|begun| *begun += 1);
        // An incomplete request has no effect.
        let Ok(body) = body.collect().await else { return short(400, parts.method) };
        let body = body.to_bytes().to_vec();
        let manner = self.manner();
        let refuses = matches!(manner, Manner::Status(400..) | Manner::NoEffect(_));
        let target = parts.uri.path_and_query().map(ToString::to_string).unwrap_or_default();
        let got = Got { method: parts.method.clone(), target, headers: parts.headers.clone(), body };
        let scripted = self.shared.reads.lock().unwrap().clone().filter(|_| parts.method == Method::GET);
        if let Some((status, body)) = scripted {
            self.record(got);
            return respond(status, Full::from(body).boxed_unsync());
        }
        if refuses {
            self.shared.arrived.notify_one();
        } else {
            self.record(got);
        }
        if let Some(upgrade) = upgrade {
            return shake_hands(&parts.headers, upgrade);
        }
        match manner {
            Manner::Status(status) => short(status, parts.method),
            Manner::NoEffect(status) => {
                let mut response = short(status, parts.method);
                response.headers_mut().insert("countersign-effect", http::HeaderValue::from_static("none"));
                response
            }
            Manner::Thoughtful => {
                self.shared.answer.notified().await;
                short(usual(&parts.method), parts.method)
            }
            Manner::Sized(bytes) => respond(200, Full::from(vec![b'x'; bytes]).boxed_unsync()),
            Manner::Unsized(bytes) => respond(200, unsized_body(bytes)),
            Manner::Events => events(),
            Manner::Obliging if parts.method == Method::POST => match self.shared.writes.lock().unwrap().clone() {
                Some(body) => respond(201, Full::from(body).boxed_unsync()),
                None => short(201, parts.method),
            },
            _ => short(usual(&parts.method), parts.method),
        }
    }
}

fn usual(method: &Method) -> u16 {
    if *method == Method::POST { 201 } else { 200 }
}

fn short(status: u16, method: Method) -> Response<BankBody> {
    let body = if method == Method::HEAD { Bytes::new() } else { Bytes::from_static(b"{\"from\":\"bank\"}") };
    respond(status, Full::from(body).boxed_unsync())
}

fn respond(status: u16, body: BankBody) -> Response<BankBody> {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(status).expect("a status");
    response
}

fn unsized_body(bytes: usize) -> BankBody {
    let whole = bytes / 1000;
    let sizes = std::iter::repeat_n(1000, whole).chain(Some(bytes % 1000).filter(|rest| *rest > 0));
    let frames = sizes.map(|size| Ok(Frame::data(Bytes::from(vec![b'x'; size]))));
    StreamBody::new(stream::iter(frames.collect::<Vec<_>>())).boxed_unsync()
}

fn events() -> Response<BankBody> {
    let tick = |n: u64| async move {
        tokio::time::sleep(Duration::from_millis(if n == 0 { 0 } else { 20 })).await;
        Ok(Frame::data(Bytes::from(format!("data: {n}\n\n"))))
    };
    let mut response = respond(200, StreamBody::new(stream::iter(0..).then(tick)).boxed_unsync());
    response.headers_mut().insert("content-type", http::HeaderValue::from_static("text/event-stream"));
    response
}

/// A WebSocket that echoes every text frame.
fn shake_hands(headers: &HeaderMap, upgrade: hyper::upgrade::OnUpgrade) -> Response<BankBody> {
    let key = headers.get("sec-websocket-key").map(|key| key.as_bytes().to_vec()).unwrap_or_default();
    let accept = tokio_tungstenite::tungstenite::handshake::derive_accept_key(&key);
    tokio::spawn(async move {
        let Ok(upgraded) = upgrade.await else { return };
        let role = tokio_tungstenite::tungstenite::protocol::Role::Server;
        let socket = tokio_tungstenite::WebSocketStream::from_raw_socket(TokioIo::new(upgraded), role, None).await;
        let (out, from) = socket.split();
        let _over = from.filter(|m| std::future::ready(m.as_ref().is_ok_and(|m| m.is_text()))).forward(out).await;
    });
    let mut response = respond(101, Full::default().boxed_unsync());
    let headers = response.headers_mut();
    headers.insert("upgrade", http::HeaderValue::from_static("websocket"));
    headers.insert("connection", http::HeaderValue::from_static("upgrade"));
    headers.insert("sec-websocket-accept", http::HeaderValue::from_str(&accept).expect("base64"));
    response
}

fn is_complete(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    body.len() >= length(head)
}

fn length(head: &str) -> usize {
    let line =
        head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:").map(str::to_owned));
    line.and_then(|length| length.trim().parse().ok()).unwrap_or(0)
}

fn parse(bytes: &[u8]) -> Got {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").expect("a head");
    let mut words = head.split(' ');
    let method = words.next().and_then(|word| word.parse().ok()).unwrap_or_default();
    let target = words.next().unwrap_or_default().to_owned();
    let headers = head.lines().skip(1).filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        let name = http::HeaderName::from_bytes(name.to_ascii_lowercase().as_bytes()).ok()?;
        Some((name, http::HeaderValue::from_str(value.trim()).ok()?))
    });
    Got { method, target, headers: headers.collect(), body: body.as_bytes().to_vec() }
}
