//! Signers of every algorithm, and tokens for them to sign.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{self, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RsaKeyPair, RsaPublicKeyComponents};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use countersign_jose::{Expected, KeyPolicy, KeySet, SigningKey};
use countersign_protocol::{domain::Domain, time::UnixMillis};
use serde_json::{Value, json};
use std::sync::LazyLock;

pub(crate) const SERVICE: &str = "https://test-service.aap.dev";
pub(crate) const OPERATOR: &str = "test-operator.aap.dev";
/// One minute into the validity of the published vectors (C-33).
pub(crate) const NOW: UnixMillis = UnixMillis::from_secs(1_748_822_460);
pub(crate) const IAT: i64 = 1_748_822_400;

pub(crate) static KEY: LazyLock<SigningKey> = LazyLock::new(|| SigningKey::generate(Some("op-1")).unwrap());
pub(crate) static KEYS: LazyLock<KeySet> = LazyLock::new(|| key_set(&[json!(KEY.public_jwk())]));
static RSA: LazyLock<RsaKeyPair> = LazyLock::new(|| RsaKeyPair::generate(KeySize::Rsa2048).unwrap());
static P384: LazyLock<EcdsaKeyPair> =
    LazyLock::new(|| EcdsaKeyPair::generate(&signature::ECDSA_P384_SHA384_FIXED_SIGNING).unwrap());
static P521: LazyLock<EcdsaKeyPair> =
    LazyLock::new(|| EcdsaKeyPair::generate(&signature::ECDSA_P521_SHA512_FIXED_SIGNING).unwrap());
static ED: LazyLock<Ed25519KeyPair> = LazyLock::new(|| Ed25519KeyPair::generate().unwrap());

static DOMAIN: LazyLock<Domain> = LazyLock::new(|| Domain::parse(OPERATOR).unwrap());

pub(crate) fn expected() -> Expected<'static> {
    Expected { operator: &DOMAIN, service: SERVICE }
}

pub(crate) fn key_set(keys: &[Value]) -> KeySet {
    KeySet::parse(json!({ "keys": keys }).to_string().as_bytes(), &KeyPolicy::default()).unwrap()
}

pub(crate) fn operator_claims() -> Value {
    json!({ "iss": OPERATOR, "aud": SERVICE, "iat": IAT, "exp": IAT + 3600, "kid": "op-1" })
}

pub(crate) fn receipt_claims() -> Value {
    json!({
        "iss": OPERATOR, "aud": SERVICE, "sub": "user_1", "delegation_id": "del_k9x2mq", "session_id": "sess_abcdef",
        "intent": "Schedule a meeting", "scopes": ["calendar.read"], "consent_method": "explicit_ui",
        "iat": IAT, "exp": IAT + 86_400,
    })
}

pub(crate) fn delegation_claims() -> Value {
    json!({
        "iss": SERVICE, "sub": "user_1", "delegated_to": OPERATOR, "delegation_id": "del_k9x2mq",
        "scopes": ["calendar.read"], "max_agent_ttl": 3600, "iat": IAT, "exp": IAT + 86_400,
    })
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

pub(crate) fn b64(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// A token signed with the main key and a plain `typ`.
pub(crate) fn signed(claims: &Value) -> String {
    KEY.sign("JWT", claims).unwrap()
}

/// A token of arbitrary parts, signed by any function.
pub(crate) fn token(header: &str, payload: &str, sign: impl FnOnce(&[u8]) -> Vec<u8>) -> String {
    let message = format!("{}.{}", b64(header), b64(payload));
    let signature = b64(sign(message.as_bytes()));
    format!("{message}.{signature}")
}

/// Header and payload as text, signed with the main key without checks.
pub(crate) fn raw(header: &str, payload: &str) -> String {
    token(header, payload, |message| es256(&KEY, message))
}

pub(crate) fn es256(key: &SigningKey, message: &[u8]) -> Vec<u8> {
    let pair = EcdsaKeyPair::from_pkcs8(&signature::ECDSA_P256_SHA256_FIXED_SIGNING, &key.to_pkcs8()).unwrap();
    pair.sign(&SystemRandom::new(), message).unwrap().as_ref().to_vec()
}

/// A real signature of that algorithm, by a key of matching type.
pub(crate) fn sign(alg: &str, message: &[u8]) -> Vec<u8> {
    let rng = SystemRandom::new();
    match alg {
        "ES256" => es256(&KEY, message),
        "ES384" => P384.sign(&rng, message).unwrap().as_ref().to_vec(),
        "ES512" => P521.sign(&rng, message).unwrap().as_ref().to_vec(),
        "EdDSA" => ED.sign(message).as_ref().to_vec(),
        "RS256" => rsa(&signature::RSA_PKCS1_SHA256, message),
        "RS384" => rsa(&signature::RSA_PKCS1_SHA384, message),
        "RS512" => rsa(&signature::RSA_PKCS1_SHA512, message),
        "PS256" => rsa(&signature::RSA_PSS_SHA256, message),
        "PS384" => rsa(&signature::RSA_PSS_SHA384, message),
        "PS512" => rsa(&signature::RSA_PSS_SHA512, message),
        _ => Vec::new(),
    }
}

fn rsa(padding: &'static dyn signature::RsaEncoding, message: &[u8]) -> Vec<u8> {
    let mut out = vec![0; RSA.public_modulus_len()];
    RSA.sign(padding, &SystemRandom::new(), message, &mut out).unwrap();
    out
}

/// The public key matching [`sign`] for that algorithm, with `kid` `op-1` and without `alg`.
pub(crate) fn public_key(alg: &str) -> Value {
    match alg {
        "ES256" => with(json!(KEY.public_jwk()), "alg", Value::Null),
        "ES384" => ec("P-384", P384.public_key().as_ref()),
        "ES512" => ec("P-521", P521.public_key().as_ref()),
        "EdDSA" => json!({ "kid": "op-1", "kty": "OKP", "crv": "Ed25519", "x": b64(ED.public_key()) }),
        _ => rsa_public_key(&RSA),
    }
}

fn ec(crv: &str, point: &[u8]) -> Value {
    let (x, y) = point[1..].split_at(point.len() / 2);
    json!({ "kid": "op-1", "kty": "EC", "crv": crv, "x": b64(x), "y": b64(y) })
}

pub(crate) fn rsa_public_key(key: &RsaKeyPair) -> Value {
    let numbers = RsaPublicKeyComponents::<Vec<u8>>::from(key.public_key());
    json!({ "kid": "op-1", "kty": "RSA", "n": b64(numbers.n), "e": b64(numbers.e) })
}
