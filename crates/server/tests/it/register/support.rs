//! Helpers for the tests of registration.

use countersign_testkit::{Answer, Backend, Connected, Kit, Plane, Setup, TestPerson};
use serde_json::{Value, json};

pub(crate) const SCOPES: &[&str] = &["calendar.read", "calendar.write"];

pub(crate) const SQLITE: Kit = Kit(Backend::Sqlite);

/// A plane on which alice has connected acme.
pub(crate) struct Ready {
    pub(crate) plane: Plane,
    pub(crate) alice: TestPerson,
    pub(crate) connected: Connected,
}

impl Ready {
    pub(crate) async fn on(kit: Kit) -> Self {
        Self::with(kit, Setup::default()).await
    }

    pub(crate) async fn with(kit: Kit, setup: Setup) -> Self {
        Self::at(kit.plane_with(setup).await).await
    }

    pub(crate) async fn at(plane: Plane) -> Self {
        let alice = plane.person("alice").await;
        let connected = plane.connect(&alice, plane.acme(), SCOPES).await;
        Self { plane, alice, connected }
    }

    /// A valid body without a receipt.
    pub(crate) fn body(&self) -> Value {
        self.plane.register_body(self.plane.acme(), &self.connected)
    }

    /// Claims of a valid receipt.
    pub(crate) fn receipt(&self) -> Value {
        self.plane.receipt_claims(self.plane.acme(), "alice", &self.connected, SCOPES)
    }

    /// A body with a receipt of these claims, signed by acme.
    pub(crate) fn body_with(&self, receipt: &Value) -> Value {
        with(self.body(), "consent_receipt", json!(self.plane.acme().sign_receipt(receipt)))
    }

    /// A body with operator JWT claims of the test's own, signed by acme.
    pub(crate) fn body_by(&self, operator: &Value) -> Value {
        with(self.body(), "operator_jwt", json!(self.plane.acme().sign_operator(operator)))
    }

    pub(crate) fn operator_claims(&self) -> Value {
        self.plane.acme().claims(self.plane.service(), self.plane.now())
    }

    pub(crate) async fn register(&self, body: &Value) -> Answer {
        self.plane.post("/agent/register", body).await
    }

    /// Status and code of a registration that must fail.
    pub(crate) async fn refusal(&self, body: &Value) -> (u16, String) {
        let answer = self.register(body).await;
        assert!(!answer.is_success(), "accepted: {body:#}");
        answer.refusal()
    }
}

/// The object with one member replaced, or removed by null.
pub(crate) fn with(mut object: Value, member: &str, value: Value) -> Value {
    let members = object.as_object_mut().unwrap();
    match value {
        Value::Null => drop(members.remove(member)),
        value => drop(members.insert(member.to_owned(), value)),
    }
    object
}

pub(crate) fn told(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}

/// A token with its last signature character changed.
pub(crate) fn tampered(jwt: &str) -> String {
    let (rest, signature) = jwt.rsplit_once('.').unwrap();
    let other = if signature.starts_with('A') { 'B' } else { 'A' };
    format!("{rest}.{other}{}", &signature[1..])
}

/// The claims of a token, unverified.
pub(crate) fn claims_of(jwt: &str) -> Value {
    part_of(jwt, 1)
}

pub(crate) fn header_of(jwt: &str) -> Value {
    part_of(jwt, 0)
}

fn part_of(jwt: &str, part: usize) -> Value {
    use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
    let part = jwt.split('.').nth(part).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
}
