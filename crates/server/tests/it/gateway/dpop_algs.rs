//! Algorithms of a proof: ES256 and PS256, and no other, even with a valid signature (C-30).

use super::proofs::*;
use crate::register::support::SQLITE;
use aws_lc_rs::{
    rand::SystemRandom,
    rsa::KeySize,
    signature::{
        ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256, RSA_PSS_SHA256,
        RSA_PSS_SHA384, RsaEncoding, RsaKeyPair, RsaPublicKeyComponents,
    },
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use countersign_testkit::{
    Answer,
    bank::{BankFixture, GATEWAY, GatewayRequest},
};
use serde_json::{Value, json};

type Sign = Box<dyn Fn(&[u8]) -> Vec<u8>>;

/// A signer with one algorithm.
struct Signer {
    alg: &'static str,
    jwk: Value,
    sign: Sign,
}

impl Signer {
    fn rsa(alg: &'static str, padding: &'static dyn RsaEncoding) -> Self {
        let pair = RsaKeyPair::generate(KeySize::Rsa2048).unwrap();
        let numbers = RsaPublicKeyComponents::<Vec<u8>>::from(pair.public_key());
        let jwk = json!({ "kty": "RSA", "n": b64(numbers.n), "e": b64(numbers.e) });
        let sign = Box::new(move |message: &[u8]| {
            let mut signature = vec![0; pair.public_modulus_len()];
            pair.sign(padding, &SystemRandom::new(), message, &mut signature).unwrap();
            signature
        });
        Self { alg, jwk, sign }
    }

    fn p384() -> Self {
        let pair = EcdsaKeyPair::generate(&ECDSA_P384_SHA384_FIXED_SIGNING).unwrap();
        let point = pair.public_key().as_ref().to_vec();
        let (x, y) = point[1..].split_at(48);
        let jwk = json!({ "kty": "EC", "crv": "P-384", "x": b64(x), "y": b64(y) });
        let sign = move |message: &[u8]| pair.sign(&SystemRandom::new(), message).unwrap().as_ref().to_vec();
        Self { alg: "ES384", jwk, sign: Box::new(sign) }
    }

    fn ed25519() -> Self {
        let pair = Ed25519KeyPair::generate().unwrap();
        let jwk = json!({ "kty": "OKP", "crv": "Ed25519", "x": b64(pair.public_key()) });
        Self { alg: "EdDSA", jwk, sign: Box::new(move |message| pair.sign(message).as_ref().to_vec()) }
    }

    fn proof(&self, claims: &Value) -> String {
        let header = json!({ "typ": "dpop+jwt", "alg": self.alg, "jwk": self.jwk });
        let signed = format!("{}.{}", b64(header.to_string()), b64(claims.to_string()));
        let signature = b64((self.sign)(signed.as_bytes()));
        format!("{signed}.{signature}")
    }

    async fn registers(&self, scene: &BankFixture) -> Answer {
        let url = format!("{}/agent/register", scene.plane.service());
        let claims = json!({ "jti": fresh(), "htm": "POST", "htu": url, "iat": scene.plane.now().secs() });
        let body = scene.plane.register_body(scene.plane.acme(), &scene.connected);
        let request = countersign_testkit::agent_request(http::Method::POST, "/agent/register");
        let request = request.header("dpop", self.proof(&claims)).body(body.to_string().into()).unwrap();
        scene.plane.send(request).await
    }

    async fn reads(&self, scene: &BankFixture, token: &str, session_id: &str) -> Answer {
        let ath = countersign_protocol::hash::Digest::of(token.as_bytes()).base64url();
        let url = format!("{GATEWAY}/accounts");
        let claims = json!({ "jti": fresh(), "htm": "GET", "htu": url, "iat": scene.plane.now().secs(), "ath": ath });
        let sent = GatewayRequest::new("GET", "/accounts")
            .with("aap-version", "2.0")
            .with("x-agent-mode", "user_delegated")
            .with("x-agent-delegation", &scene.connected.delegation_id)
            .with("x-agent-session", session_id)
            .with("x-agent-intent-type", "READ_ACCOUNTS")
            .with("authorization", &format!("DPoP {token}"))
            .with("dpop", &self.proof(&claims));
        scene.sends_raw(sent).await
    }
}

/// AAP-18.3-03
#[tokio::test]
async fn es256_and_ps256_are_accepted_and_nothing_else_is_though_it_signs_well() {
    let scene = SQLITE.bank_with(without_nonces).await;
    scene.plane.advance_secs(EPOCH_OVER_S).await;
    let others = [
        Signer::rsa("RS256", &RSA_PKCS1_SHA256),
        Signer::rsa("PS384", &RSA_PSS_SHA384),
        Signer::p384(),
        Signer::ed25519(),
    ];
    for signer in &others {
        assert_refused(&signer.registers(&scene).await, "dpop_invalid", signer.alg);
        let read = signer.reads(&scene, &scene.agent.access_token, &scene.agent.session_id).await;
        assert_refused(&read, "dpop_invalid", signer.alg);
    }
    assert_eq!(scene.bank.got().len(), 0);
    let signer = Signer::rsa("PS256", &RSA_PSS_SHA256);
    let registered = signer.registers(&scene).await.expect(200).json();
    let (token, session) = (registered["access_token"].as_str().unwrap(), registered["session_id"].as_str().unwrap());
    signer.reads(&scene, token, session).await.expect(200);
    scene.sends(GatewayRequest::new("GET", "/accounts")).await.expect(200);
}

fn b64(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}
