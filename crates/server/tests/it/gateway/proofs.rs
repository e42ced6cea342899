//! Valid and invalid proofs of every kind, and the endpoints that they are sent to.

use crate::register::support::with;
use axum::body::Body;
use countersign_jose::{ProofKey, SigningKey};
use countersign_protocol::{hash::Digest, project::ProjectDocument};
use countersign_testkit::{
    Answer, Kit, aaep, agent_request,
    bank::{BankFixture, GATEWAY, GatewayListener, GatewayRequest},
};
use http::Method;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};

/// The challenge for a refused proof.
pub(super) const REFUSED: &str = r#"DPoP error="invalid_dpop_proof", algs="ES256 PS256""#;
/// The challenge for a proof that lacks only a valid nonce (C-27).
pub(super) const NONCE_DEMANDED: &str = r#"DPoP error="use_dpop_nonce", algs="ES256 PS256""#;
/// After this time the proofs of calls need no nonce (R-22).
pub(super) const EPOCH_OVER_S: i64 = 601;

/// An endpoint that takes a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Door {
    Register,
    // at the gateway
    Read,
    Write,
    Held,
    Events,
    Socket,
    Redeem,
    // at the plane's own endpoints
    Decision,
    Talk,
    Cancel,
    Revoke,
}

pub(super) const AT_THE_GATEWAY: [Door; 6] =
    [Door::Read, Door::Write, Door::Held, Door::Events, Door::Socket, Door::Redeem];
/// All those that need a token.
pub(super) const WITH_A_TOKEN: [Door; 10] = [
    Door::Read,
    Door::Write,
    Door::Held,
    Door::Events,
    Door::Socket,
    Door::Redeem,
    Door::Decision,
    Door::Talk,
    Door::Cancel,
    Door::Revoke,
];
/// One of each kind, such that a valid proof does not change the state for the next one.
pub(super) const ONE_OF_EACH: [Door; 6] =
    [Door::Register, Door::Read, Door::Write, Door::Held, Door::Decision, Door::Talk];

impl Door {
    pub(super) fn method(self) -> &'static str {
        match self {
            Self::Read | Self::Events | Self::Socket | Self::Decision => "GET",
            _ => "POST",
        }
    }

    fn is_at_the_gateway(self) -> bool {
        AT_THE_GATEWAY.contains(&self)
    }

    /// The status of the response once the proof is accepted.
    pub(super) fn lets_in(self) -> u16 {
        match self {
            Self::Held => 403,
            Self::Decision => 404,
            Self::Write | Self::Talk | Self::Redeem => 201,
            _ => 200,
        }
    }
}

/// A bank, and an agent with its key in the hands of the test, which can sign invalid proofs.
pub(super) struct Stage {
    pub(super) scene: BankFixture,
    pub(super) key: SigningKey,
    /// A refund approved by alice.
    approved: String,
}

impl Stage {
    /// Ten minutes after the start, without nonces.
    pub(super) async fn on(kit: Kit) -> Self {
        Self::with(kit.bank_with(without_nonces).await).await
    }

    pub(super) async fn with(mut scene: BankFixture) -> Self {
        scene.plane.advance_secs(EPOCH_OVER_S).await;
        let key = SigningKey::generate(None).unwrap();
        let body = scene.plane.register_body(scene.plane.acme(), &scene.connected);
        scene.agent = scene.plane.holder_with(&body, Some(proof_key(&key)), &scene.connected).await;
        let refund = GatewayRequest::new("POST", "/refunds").json(r#"{"payment_id":"p-1"}"#);
        let approved = scene.approved(refund).await["decision_id"].as_str().unwrap().to_owned();
        Self { scene, key, approved }
    }

    fn path(&self, door: Door) -> String {
        match door {
            Door::Register => "/agent/register".into(),
            Door::Read => "/accounts".into(),
            Door::Write => "/notes".into(),
            Door::Held => "/transfers".into(),
            Door::Events => "/prices".into(),
            Door::Socket => "/ticker".into(),
            Door::Redeem => format!("/.countersign/decisions/{}/redeem", self.approved),
            Door::Decision => "/v1/decisions/dec_none".into(),
            Door::Talk => "/aaep/v1/sessions".into(),
            Door::Cancel => "/agent/cancel".into(),
            Door::Revoke => "/agent/revoke".into(),
        }
    }

    pub(super) fn url(&self, door: Door) -> String {
        let origin = if door.is_at_the_gateway() { GATEWAY } else { self.scene.plane.service() };
        format!("{origin}{}", self.path(door))
    }

    fn body(&self, door: Door) -> String {
        let Self { scene, .. } = self;
        match door {
            Door::Register => {
                let body = scene.plane.register_body(scene.plane.acme(), &scene.connected);
                with(body, "session_id", json!(scene.agent.session_id)).to_string()
            }
            Door::Write => r#"{"text":"water the plants"}"#.into(),
            Door::Held => String::from_utf8(BankFixture::transfer().body).unwrap(),
            Door::Talk => aaep::event("session.started", json!({})).to_string(),
            Door::Cancel => json!({ "session_id": scene.agent.session_id }).to_string(),
            Door::Revoke => json!({ "delegation_id": scene.connected.delegation_id }).to_string(),
            _ => String::new(),
        }
    }

    pub(super) fn header(&self) -> Value {
        header_of(&self.key)
    }

    /// The claims of a valid proof, each time with a new `jti`.
    pub(super) fn claims(&self, door: Door) -> Value {
        let claims = json!({
            "jti": fresh(), "htm": door.method(), "htu": self.url(door), "iat": self.scene.plane.now().secs(),
        });
        match door {
            Door::Register => claims,
            _ => with(claims, "ath", json!(Digest::of(self.scene.agent.access_token.as_bytes()).base64url())),
        }
    }

    pub(super) fn proof(&self, door: Door) -> String {
        self.sign(&self.header(), &self.claims(door))
    }

    /// A proof that is valid except for one claim, which is replaced, or removed by null.
    pub(super) fn claiming(&self, door: Door, claim: &str, value: Value) -> String {
        self.sign(&self.header(), &with(self.claims(door), claim, value))
    }

    /// The same for a member of the header.
    pub(super) fn headed(&self, door: Door, member: &str, value: Value) -> String {
        self.sign(&with(self.header(), member, value), &self.claims(door))
    }

    pub(super) fn sign(&self, header: &Value, claims: &Value) -> String {
        self.key.sign_with_header(header, claims).unwrap()
    }

    /// Sends a proof, with the token where one is needed.
    pub(super) async fn shows(&self, door: Door, proof: &str) -> Answer {
        self.sends(door, &[("authorization", &self.scene.agent.authorization()), ("dpop", proof)]).await
    }

    /// A request that is valid except for its credentials, which are these headers.
    pub(super) async fn sends(&self, door: Door, headers: &[(&str, &str)]) -> Answer {
        let headers = headers.iter().filter(|(name, _)| door != Door::Register || *name != "authorization");
        if !door.is_at_the_gateway() {
            let method: Method = door.method().parse().unwrap();
            let request =
                headers.fold(agent_request(method, &self.path(door)), |r, (name, value)| r.header(*name, *value));
            return self.scene.plane.send(request.body(Body::from(self.body(door))).unwrap()).await;
        }
        let sent = headers.fold(self.bare(door), |sent, (name, value)| sent.with(name, value));
        self.scene.sends_raw(sent).await
    }

    /// A request to the gateway without credentials.
    pub(super) fn bare(&self, door: Door) -> GatewayRequest {
        let intent = match door {
            Door::Write => "NOTE",
            Door::Held | Door::Redeem => "PAY",
            _ => "READ_ACCOUNTS",
        };
        let sent = GatewayRequest {
            body: self.body(door).into_bytes(),
            ..GatewayRequest::new(door.method(), &self.path(door))
        };
        let sent = if sent.body.is_empty() { sent } else { sent.with("content-type", "application/json") };
        let sent = sent.with("aap-version", "2.0").of_session(&self.scene.agent).with("x-agent-intent-type", intent);
        match door {
            Door::Socket => sent
                .with("connection", "upgrade")
                .with("upgrade", "websocket")
                .with("sec-websocket-version", "13")
                .with("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
            _ => sent,
        }
    }

    /// Asserts that neither the bank nor alice received a request.
    pub(super) async fn nothing_happened(&self) {
        assert_eq!(self.scene.bank.got().len(), 0);
        assert_eq!(self.scene.alice.pending_questions(&self.scene.plane).await, 0);
    }
}

/// The node ends and another starts on the same database; the bank, the agent and its token stay.
pub(super) async fn restarted(scene: BankFixture) -> BankFixture {
    let BankFixture { plane, bank, gateway, alice, connected, agent } = scene;
    drop(gateway);
    let plane = plane.restart().await;
    let gateway = GatewayListener::open(&plane.engine, |_| {}).await;
    BankFixture { plane, bank, gateway, alice, connected, agent }
}

pub(super) fn without_nonces(document: &mut ProjectDocument) {
    document.dpop.nonce_at_register = false;
}

pub(super) fn proof_key(key: &SigningKey) -> ProofKey {
    ProofKey::from_pkcs8(&key.to_pkcs8()).unwrap()
}

pub(super) fn header_of(key: &SigningKey) -> Value {
    let public = key.public_jwk();
    let jwk = json!({ "kty": "EC", "crv": "P-256", "x": public.x, "y": public.y });
    json!({ "typ": "dpop+jwt", "alg": "ES256", "jwk": jwk })
}

/// A new, unique `jti`.
pub(super) fn fresh() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("proof-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Asserts that a proof was refused with this code and a challenge.
#[track_caller]
pub(super) fn assert_refused(answer: &Answer, code: &str, what: &str) {
    assert_eq!(answer.refusal(), (401, code.to_owned()), "{what}: {}", answer.text());
    assert_eq!(answer.header("www-authenticate"), Some(REFUSED), "{what}");
    assert_eq!(answer.header("dpop-nonce"), None, "{what}: nonces are off");
}

#[track_caller]
pub(super) fn assert_nonce_demanded(answer: &Answer, what: &str) {
    assert_eq!(answer.refusal(), (401, "dpop_invalid".into()), "{what}: {}", answer.text());
    assert_eq!(answer.header("www-authenticate"), Some(NONCE_DEMANDED), "{what}");
    assert!(answer.header("dpop-nonce").is_some_and(|nonce| !nonce.is_empty()), "{what}");
}

#[track_caller]
pub(super) fn assert_let_in(door: Door, answer: &Answer, what: &str) {
    assert_eq!(answer.status, door.lets_in(), "{door:?}, {what}: {}", answer.text());
}
