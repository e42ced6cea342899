//! An operator: its domain under real TLS, its keys and its signatures.

use crate::operator_host::{OperatorHost, TestCa};
use countersign_jose::{SigningKey, pkce};
use countersign_protocol::{
    aap::{consent_receipt, operator_jwt},
    time::UnixMillis,
};
use serde_json::{Value, json};

pub struct TestOperator {
    pub host: OperatorHost,
    pub key: SigningKey,
}

impl TestOperator {
    /// Publishes a manifest with a callback, and one key.
    pub async fn start(ca: &TestCa, domain: &str) -> Self {
        let host = OperatorHost::start(ca, domain).await;
        let key = SigningKey::generate(Some("key-1")).expect("a key");
        let operator = Self { host, key };
        operator.publish(&[&operator.key]);
        operator
    }

    pub fn domain(&self) -> &str {
        self.host.domain()
    }

    pub fn callback(&self) -> String {
        format!("https://{}/callback", self.domain())
    }

    /// The manifest that `start` publishes, for tests that change a member.
    pub fn identity(&self) -> Value {
        let mut identity = self.host.identity();
        identity["countersign"] = json!({ "callbacks": [self.callback()] });
        identity
    }

    /// Publishes the manifest and exactly these keys.
    pub fn publish(&self, keys: &[&SigningKey]) {
        let jwks: Vec<Value> = keys.iter().map(|key| json!(key.public_jwk())).collect();
        self.host.publish(&json!({ "keys": jwks }));
        self.publish_identity(&self.identity());
    }

    pub fn publish_identity(&self, identity: &Value) {
        self.host.set_document(crate::operator_host::IDENTITY, identity.to_string());
    }

    /// JWT claims for a service: five minutes from now.
    pub fn claims(&self, service: &str, now: UnixMillis) -> Value {
        json!({ "iss": self.domain(), "aud": service, "iat": now.secs(), "exp": now.secs() + 300 })
    }

    pub fn jwt(&self, service: &str, now: UnixMillis) -> String {
        self.sign_operator(&self.claims(service, now))
    }

    pub fn sign_operator(&self, claims: &Value) -> String {
        self.key.sign(operator_jwt::TYP, claims).expect("a signature")
    }

    pub fn sign_receipt(&self, claims: &Value) -> String {
        self.key.sign(consent_receipt::TYP, claims).expect("a signature")
    }
}

pub fn challenge_of(verifier: &str) -> String {
    pkce::challenge_s256(verifier)
}
