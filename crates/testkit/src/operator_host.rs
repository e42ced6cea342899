//! An operator's web server: real TLS on loopback under a certificate authority of the test's own.
//!
//! Documents can be changed while it runs, every request is recorded, and it can go dark, stall and recover.

#![allow(clippy::expect_used, reason = "a test whose server cannot start has nothing to say")]

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::rt::TokioIo;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::{
    ServerConfig,
    crypto::aws_lc_rs,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    convert::Infallible,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::{JoinHandle, JoinSet},
};
use tokio_rustls::TlsAcceptor;

pub const IDENTITY: &str = "/.well-known/agent-identity.json";
pub const JWKS: &str = "/.well-known/agent-jwks.json";

/// Signs the certificates of test hosts. Trusted by clients that are given its [`TestCa::pem`].
pub struct TestCa {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl Default for TestCa {
    fn default() -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("no names to go wrong");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key for the authority");
        let pem = params.self_signed(&key).expect("a root certificate").pem();
        Self { issuer: Issuer::new(params, key), pem }
    }
}

impl TestCa {
    /// A new authority every time.
    pub fn new() -> Self {
        Self::default()
    }

    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// A TLS server configuration for these names.
    pub fn server_config(&self, names: &[String]) -> ServerConfig {
        let key = KeyPair::generate().expect("a key for the host");
        let params = CertificateParams::new(names.to_vec()).expect("names that fit into a certificate");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate for the host");
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("TLS 1.2 and 1.3")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .expect("the key belongs to the certificate")
    }
}

/// A host's response on one path.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Answer {
    pub fn json(body: impl Into<Bytes>) -> Self {
        Self::new(StatusCode::OK, &[("content-type", "application/json")], body)
    }

    pub fn redirect(to: &str) -> Self {
        Self::new(StatusCode::FOUND, &[("location", to)], "")
    }

    pub fn status(status: StatusCode) -> Self {
        Self::new(status, &[], "")
    }

    pub fn new(status: StatusCode, headers: &[(&'static str, &str)], body: impl Into<Bytes>) -> Self {
        let pair = |(name, value): &(&'static str, &str)| {
            (header::HeaderName::from_static(name), value.parse().expect("a header value"))
        };
        Self { status, headers: headers.iter().map(pair).collect(), body: body.into() }
    }
}

/// A received request.
#[derive(Clone, Debug)]
pub struct Received {
    pub method: http::Method,
    pub path: String,
    pub headers: HeaderMap,
    pub body: Bytes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mood {
    Up,
    /// Closes every connection.
    Dark,
    /// Accepts requests and answers them only after it recovers.
    Stalling,
}

struct Inside {
    answers: Mutex<HashMap<String, Answer>>,
    received: Mutex<Vec<Received>>,
    requests: watch::Sender<usize>,
    mood: watch::Sender<Mood>,
}

/// One operator's web server. Stops when dropped.
pub struct OperatorHost {
    domain: String,
    addr: SocketAddr,
    inside: Arc<Inside>,
    serving: JoinHandle<()>,
}

impl OperatorHost {
    /// Certified for the domain and for one label below it. Every path is 404 until it is set.
    pub async fn start(ca: &TestCa, domain: &str) -> Self {
        let tls = TlsAcceptor::from(Arc::new(ca.server_config(&[domain.to_owned(), format!("*.{domain}")])));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let addr = listener.local_addr().expect("a bound listener has an address");
        let inside = Arc::new(Inside {
            answers: Mutex::default(),
            received: Mutex::default(),
            requests: watch::Sender::new(0),
            mood: watch::Sender::new(Mood::Up),
        });
        let serving = tokio::spawn(serve(listener, tls, Arc::clone(&inside)));
        Self { domain: domain.to_owned(), addr, inside, serving }
    }

    pub fn domain(&self) -> &str {
        &self.domain
    }

    /// The address that the domain resolves to.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    pub fn set_document(&self, path: &str, bytes: impl Into<Bytes>) {
        self.set_answer(path, Answer::json(bytes));
    }

    pub fn set_answer(&self, path: &str, answer: Answer) {
        lock(&self.inside.answers).insert(path.to_owned(), answer);
    }

    pub fn remove(&self, path: &str) {
        lock(&self.inside.answers).remove(path);
    }

    /// The smallest valid manifest of this domain.
    pub fn identity(&self) -> Value {
        json!({
            "operator": "Test Operator",
            "domain": self.domain,
            "contact": format!("security@{}", self.domain),
            "signing_keys": format!("https://{}{JWKS}", self.domain),
        })
    }

    /// Publishes manifest and key set at their usual paths.
    pub fn publish(&self, jwks: &Value) {
        self.set_document(IDENTITY, self.identity().to_string());
        self.set_document(JWKS, jwks.to_string());
    }

    /// The requested paths, in order.
    pub fn fetches(&self) -> Vec<String> {
        self.received().into_iter().map(|request| request.path).collect()
    }

    pub fn received(&self) -> Vec<Received> {
        lock(&self.inside.received).clone()
    }

    /// Waits until this many requests have arrived since the start, answered or not.
    pub async fn wait_for_requests(&self, requests: usize) {
        let _ = self.inside.requests.subscribe().wait_for(|so_far| *so_far >= requests).await;
    }

    /// From now on every connection is closed, before TLS.
    pub fn go_offline(&self) {
        self.inside.mood.send_replace(Mood::Dark);
    }

    /// From now on requests are accepted and not answered until [`OperatorHost::recover`].
    pub fn stall(&self) {
        self.inside.mood.send_replace(Mood::Stalling);
    }

    pub fn recover(&self) {
        self.inside.mood.send_replace(Mood::Up);
    }
}

impl Drop for OperatorHost {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn serve(listener: TcpListener, tls: TlsAcceptor, inside: Arc<Inside>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        if *inside.mood.borrow() != Mood::Dark {
            connections.spawn(connection(stream, tls.clone(), Arc::clone(&inside)));
        }
    }
}

async fn connection(stream: TcpStream, tls: TlsAcceptor, inside: Arc<Inside>) {
    // Clients that do not trust the certificate disconnect here; they report it themselves.
    let Ok(stream) = tls.accept(stream).await else { return };
    let service = service_fn(move |request| answer(Arc::clone(&inside), request));
    let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

async fn answer(inside: Arc<Inside>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
    lock(&inside.received).push(Received { method: head.method, path: path.clone(), headers: head.headers, body });
    inside.requests.send_modify(|so_far| *so_far += 1);
    let _ = inside.mood.subscribe().wait_for(|mood| *mood != Mood::Stalling).await;
    let found = lock(&inside.answers).get(&path).cloned();
    let found = found.unwrap_or_else(|| Answer::status(StatusCode::NOT_FOUND));
    let mut response = Response::new(Full::new(found.body));
    (*response.status_mut(), *response.headers_mut()) = (found.status, found.headers);
    Ok(response)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
