//! The usual fixture of gateway tests: alice has connected acme's agent, which holds a key and calls the bank.

use super::{Bank, GatewayRequest, Holder, SCOPES};
use crate::{Answer, Connected, Kit, Plane, Setup, TestPerson, agent_request, envelope, leaks::Folder};
use axum::body::Body;
use bytes::Bytes;
use countersign_engine::Engine;
use countersign_gateway::{BadRoots, Gateway, GatewaySettings, UpstreamCredential};
use countersign_jose::ProofKey;
use countersign_protocol::{origin::Origin, project::ProjectDocument};
use countersign_server::gateway_endpoints;
use http::{HeaderName, HeaderValue, Method};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, atomic::AtomicU64},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::oneshot,
};

/// The gateway's public origin in every test. Nobody resolves it.
pub const GATEWAY: &str = "https://bank.example.test";

pub struct BankFixture {
    pub plane: Plane,
    pub bank: Bank,
    pub gateway: GatewayListener,
    pub alice: TestPerson,
    pub connected: Connected,
    pub agent: Holder,
}

/// A response whose head has arrived; what the gateway commits before it is durable.
pub struct OpenAnswer(http::Response<Incoming>);

impl OpenAnswer {
    /// Fails unless the head has this status: with an error nothing was opened.
    #[track_caller]
    pub fn opened(self, status: u16) -> Self {
        assert_eq!(self.0.status().as_u16(), status, "the head of a response that goes on");
        self
    }

    /// A truncated body is read as far as it came.
    pub async fn read_to_end(self) -> Answer {
        let (parts, mut body) = self.0.into_parts();
        let mut bytes = Vec::new();
        while let Some(Ok(frame)) = body.frame().await {
            bytes.extend_from_slice(frame.data_ref().map(AsRef::as_ref).unwrap_or_default());
        }
        let answer = Answer { status: parts.status.as_u16(), headers: parts.headers, body: bytes };
        envelope::check_forwarded(&answer);
        answer
    }
}

/// A gateway's listener, closed when this is dropped.
pub struct GatewayListener {
    pub address: SocketAddr,
    _stop: oneshot::Sender<()>,
}

impl GatewayListener {
    pub async fn open(engine: &Arc<Engine>, change: impl FnOnce(&mut GatewaySettings)) -> Self {
        Self::with(change, |settings| Gateway::new(Arc::clone(engine), settings)).await
    }

    /// A gateway with the protocol's endpoints, as a node of the plane has it.
    pub async fn of(plane: &Plane, change: impl FnOnce(&mut GatewaySettings)) -> Self {
        let endpoints = gateway_endpoints(plane.app.clone());
        Self::with(change, |settings| Gateway::with_endpoints(Arc::clone(&plane.engine), settings, endpoints)).await
    }

    async fn with(
        change: impl FnOnce(&mut GatewaySettings),
        build: impl FnOnce(GatewaySettings) -> Result<Gateway, BadRoots>,
    ) -> Self {
        let mut settings = GatewaySettings::new(Origin::parse(GATEWAY).expect("an origin"));
        let secret = HeaderValue::from_static("Bearer the-banks-own-secret");
        let credential = UpstreamCredential::new(HeaderName::from_static("authorization"), secret);
        settings.credentials.insert("bank".into(), credential);
        change(&mut settings);
        let gateway = build(settings).expect("a gateway");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("its address");
        let (stop, stopped) = oneshot::channel::<()>();
        tokio::spawn(gateway.serve(listener, async move {
            let _dropped = stopped.await;
        }));
        Self { address, _stop: stop }
    }

    /// Sends raw bytes, and returns everything that comes back until the connection closes.
    #[expect(clippy::disallowed_methods, reason = "a test's client connects to the test's own gateway")]
    pub async fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address).await.expect("the gateway");
        stream.write_all(bytes).await.expect("written");
        let mut answer = Vec::new();
        let _closed = stream.read_to_end(&mut answer).await;
        String::from_utf8_lossy(&answer).into_owned()
    }
}

impl Setup {
    /// A plane with the bank as its only project.
    pub fn bank(bank: &Bank, change: impl FnOnce(&mut ProjectDocument)) -> Self {
        let mut document = super::bank("bank", &bank.url());
        change(&mut document);
        Self { projects: vec![document], gateway: Some(GATEWAY.into()), ..Self::default() }
    }
}

impl Kit {
    pub async fn bank(self) -> BankFixture {
        self.bank_with(|_| {}).await
    }

    /// The fixture with a changed project document.
    pub async fn bank_with(self, change: impl FnOnce(&mut ProjectDocument)) -> BankFixture {
        let bank = Bank::open().await;
        let plane = self.plane_with(Setup::bank(&bank, change)).await;
        BankFixture::on(plane, bank).await
    }
}

impl BankFixture {
    /// With a database that outlives its node. Keep the folder as long as the fixture.
    pub async fn lasting(kit: Kit, change: impl FnOnce(&mut ProjectDocument)) -> (Self, Folder) {
        let bank = Bank::open().await;
        let (plane, folder) = kit.lasting_plane(Setup::bank(&bank, change)).await;
        (Self::on(plane, bank).await, folder)
    }

    /// The same after its only node was ended and another was started at the same moment.
    pub async fn restarted(self) -> Self {
        let plane = self.plane.restart().await;
        let gateway = GatewayListener::open(&plane.engine, |_| {}).await;
        Self { plane, gateway, ..self }
    }

    pub async fn on(plane: Plane, bank: Bank) -> Self {
        let gateway = GatewayListener::of(&plane, |_| {}).await;
        let alice = plane.person("alice").await;
        let connected = plane.connect(&alice, plane.acme(), SCOPES).await;
        let agent = plane.holder(&connected, |_| {}).await;
        Self { plane, bank, gateway, alice, connected, agent }
    }

    /// Another session of the same delegation, with a receipt if `change` adds one.
    pub async fn another(&self, change: impl FnOnce(&mut Value)) -> Holder {
        self.plane.holder(&self.connected, change).await
    }

    /// A session with a receipt of alice for these usage limits.
    pub async fn limited(&self, limits: Value) -> Holder {
        self.with_receipt(|claims| claims["usage_limits"] = limits).await
    }

    pub async fn with_receipt(&self, change: impl FnOnce(&mut Value)) -> Holder {
        let acme = self.plane.acme();
        let mut claims = self.plane.receipt_claims(acme, "alice", &self.connected, SCOPES);
        claims["session_id"] = json!(format!("sess_{:032x}", u128::from(fresh()) << 64 | 0xbad_cafe));
        claims["intent_type"] = json!("PAY");
        change(&mut claims);
        let receipt = acme.sign_receipt(&claims);
        self.plane.holder(&self.connected, |body| body["consent_receipt"] = json!(receipt)).await
    }

    /// Sends a request as the fixture's agent, at its first node.
    pub async fn sends(&self, sent: GatewayRequest) -> Answer {
        self.sends_as(&self.agent, sent).await
    }

    pub async fn sends_as(&self, agent: &Holder, sent: GatewayRequest) -> Answer {
        self.sends_at(self.gateway.address, agent, sent).await
    }

    /// Adds credentials and a fresh proof, and retries once if a nonce is demanded.
    pub async fn sends_at(&self, node: SocketAddr, agent: &Holder, sent: GatewayRequest) -> Answer {
        let answer = self.sends_raw_at(node, self.authenticated(agent, sent.clone())).await;
        agent.takes_nonce(answer.header("dpop-nonce"));
        let challenged = answer.header("www-authenticate").is_some_and(|text| text.contains("use_dpop_nonce"));
        match challenged && answer.status == 401 {
            true => self.sends_raw_at(node, self.authenticated(agent, sent)).await,
            false => answer,
        }
    }

    /// Adds all headers of an agent: version, mode, delegation, session, token and proof.
    pub fn authenticated(&self, agent: &Holder, sent: GatewayRequest) -> GatewayRequest {
        let intent = intent_of(&sent.target);
        let sent = sent
            .with("aap-version", "2.0")
            .of_session(agent)
            .with("x-agent-intent-type", intent)
            .with("authorization", &agent.authorization());
        let path = sent.target.split('?').next().unwrap_or_default().to_owned();
        match agent.proof(&sent.method, &format!("{GATEWAY}{path}"), self.plane.now()) {
            Some(proof) => sent.with("dpop", &proof),
            None => sent,
        }
    }

    /// Sends exactly this request, over a connection of its own.
    pub async fn sends_raw(&self, sent: GatewayRequest) -> Answer {
        self.sends_raw_at(self.gateway.address, sent).await
    }

    pub async fn sends_raw_at(&self, node: SocketAddr, sent: GatewayRequest) -> Answer {
        self.opens_raw_at(node, sent).await.read_to_end().await
    }

    /// The same as [`Self::sends_as`], until the head of the response has arrived.
    pub async fn opens_as(&self, agent: &Holder, sent: GatewayRequest) -> OpenAnswer {
        self.opens_raw_at(self.gateway.address, self.authenticated(agent, sent)).await
    }

    #[expect(clippy::disallowed_methods, reason = "a test's client connects to the test's own gateway")]
    pub async fn opens_raw_at(&self, node: SocketAddr, sent: GatewayRequest) -> OpenAnswer {
        let stream = TcpStream::connect(node).await.expect("the gateway");
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.expect("a connection");
        tokio::spawn(connection);
        let mut request = http::Request::builder()
            .method(sent.method.as_str())
            .uri(&sent.target)
            .header("host", GATEWAY.trim_start_matches("https://"));
        for (name, value) in &sent.headers {
            request = request.header(name, value);
        }
        let request = request.body(Full::new(Bytes::from(sent.body))).expect("a request");
        OpenAnswer(sender.send_request(request).await.expect("an answer"))
    }

    /// The decision in the response to a held call.
    pub fn decision(answer: &Answer) -> Value {
        let decision = answer.json()["decision"].clone();
        assert!(decision["decision_id"].is_string(), "no decision: {}", answer.text());
        decision
    }

    /// Sends a call that needs approval, has alice approve it, and returns the decision.
    pub async fn approved(&self, sent: GatewayRequest) -> Value {
        let held = self.sends(sent).await;
        assert_eq!(held.refusal(), (403, "irreversible_requires_confirm".into()), "{}", held.text());
        let decision = Self::decision(&held);
        self.alice.accepts(&self.plane, &decision).await;
        decision
    }

    /// The decision as the agent sees it.
    pub async fn reads_decision(&self, agent: &Holder, decision: &Value) -> Value {
        let path = format!("/v1/decisions/{}", decision["decision_id"].as_str().expect("an id"));
        self.requests(agent, Method::GET, &path).await.expect(200).json()
    }

    /// A request to the plane's own endpoints with the agent's credentials.
    pub async fn requests(&self, agent: &Holder, method: Method, path: &str) -> Answer {
        self.requests_with(agent, method, path, String::new()).await
    }

    pub async fn posts(&self, agent: &Holder, path: &str, body: &Value) -> Answer {
        self.requests_with(agent, Method::POST, path, body.to_string()).await
    }

    async fn requests_with(&self, agent: &Holder, method: Method, path: &str, body: String) -> Answer {
        let url = format!("{}{}", self.plane.service(), path.split('?').next().unwrap_or_default());
        for _ in 0..2 {
            let mut request = agent_request(method.clone(), path).header("authorization", agent.authorization());
            if let Some(proof) = agent.proof(method.as_str(), &url, self.plane.now()) {
                request = request.header("dpop", proof);
            }
            let answer = self.plane.send(request.body(Body::from(body.clone())).expect("a request")).await;
            agent.takes_nonce(answer.header("dpop-nonce"));
            if answer.status != 401 || answer.header("dpop-nonce").is_none() {
                return answer;
            }
        }
        panic!("no nonce was good enough")
    }

    /// The audit entries of calls under the fixture's delegation.
    pub async fn calls(&self) -> Vec<Value> {
        let query = format!("/agent/audit?delegation_id={}&event_type=call&limit=200", self.connected.delegation_id);
        let page = self.alice.get(&self.plane, &query).await.expect(200).json();
        page["entries"].as_array().expect("entries").clone()
    }

    /// The usual transfer: 82,000 dollars.
    pub fn transfer() -> GatewayRequest {
        Self::transfer_of("82000.00")
    }

    pub fn transfer_of(amount: &str) -> GatewayRequest {
        let body = format!(r#"{{"from":"ours","to":"theirs","amount":"{amount}","currency":"USD"}}"#);
        GatewayRequest::new("POST", "/transfers").json(body)
    }
}

impl Plane {
    /// Registers with a key of its own; `change` may add a receipt or a session id.
    pub async fn holder(&self, connected: &Connected, change: impl FnOnce(&mut Value)) -> Holder {
        let mut body = self.register_body(self.acme(), connected);
        change(&mut body);
        self.holder_with(&body, Some(ProofKey::generate().expect("a key")), connected).await
    }

    pub async fn holder_with(&self, body: &Value, key: Option<ProofKey>, connected: &Connected) -> Holder {
        let (answer, nonce) = self.registration(body, key.as_ref()).await;
        let answer = answer.expect(200).json();
        Holder {
            access_token: answer["access_token"].as_str().expect("a token").to_owned(),
            session_id: answer["session_id"].as_str().expect("a session").to_owned(),
            delegation_id: connected.delegation_id.clone(),
            key,
            nonce: Mutex::new(nonce),
            // Two registrations of one session share its key, and must not share a `jti`.
            jti: AtomicU64::new(fresh() << 32),
        }
    }

    /// The answer to a registration with a key, and with a nonce if one is demanded.
    pub async fn try_holder_with(&self, body: &Value, key: Option<ProofKey>) -> Answer {
        self.registration(body, key.as_ref()).await.0
    }

    async fn registration(&self, body: &Value, key: Option<&ProofKey>) -> (Answer, Option<String>) {
        let url = format!("{}/agent/register", self.service());
        let mut nonce: Option<String> = None;
        for _ in 0..2 {
            let mut request = agent_request(Method::POST, "/agent/register");
            if let Some(key) = key {
                let jti = format!("register-{}", fresh());
                let proof = key.proof("POST", &url, None, nonce.as_deref(), &jti, self.now()).expect("a proof");
                request = request.header("dpop", proof);
            }
            let answer = self.send(request.body(Body::from(body.to_string())).expect("a request")).await;
            nonce = answer.header("dpop-nonce").map(str::to_owned);
            if answer.status != 401 || answer.header("www-authenticate").is_none_or(|w| !w.contains("use_dpop_nonce")) {
                return (answer, nonce);
            }
        }
        panic!("no nonce was good enough")
    }
}

fn intent_of(target: &str) -> &'static str {
    match target.split(['/', '?']).nth(1).unwrap_or_default() {
        "notes" => "NOTE",
        "payees" => "TIDY",
        "pings" => "PING",
        "accounts" | "statements" | "prices" | "ticker" => "READ_ACCOUNTS",
        _ => "PAY",
    }
}

fn fresh() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}
