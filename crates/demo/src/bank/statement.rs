//! How an upstream learns the person and the agent of a call: a signed identity assertion, verified with the keys
//! published by Countersign.

use super::super::plane::{transport, trouble};
use crate::DemoFailure;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use countersign_client::transport::{Request, Transport as _};
use countersign_protocol::{aap::jwks::Jwks, origin::Origin};
use serde_json::Value;

/// The header of the identity assertion.
pub(super) const HEADER: &str = "countersign-identity";

/// The JWT claims, if one of the published keys has signed them.
pub(super) async fn verified(statement: &str, origin: &Origin) -> Result<Value, DemoFailure> {
    let bad = || DemoFailure::new("not as promised: the bank got a statement of identity that it cannot verify");
    let (signed, signature) = statement.rsplit_once('.').ok_or_else(bad)?;
    let (header, claims) = signed.split_once('.').ok_or_else(bad)?;
    let kid = document(header)?;
    let keys = published(origin).await?;
    let key = keys.keys.iter().find(|key| kid.get("kid").and_then(Value::as_str) == Some(key.kid.as_str()));
    let key = key.ok_or_else(bad)?;
    let point = [vec![4], bytes(&key.x)?, bytes(&key.y)?].concat();
    let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
    key.verify(signed.as_bytes(), &bytes(signature)?).map_err(|_| bad())?;
    document(claims)
}

async fn published(origin: &Origin) -> Result<Jwks, DemoFailure> {
    let request = Request::get(format!("{origin}/.well-known/agent-jwks.json"));
    let answer = transport()?.send(request).await.map_err(trouble)?;
    serde_json::from_slice(&answer.body).map_err(trouble)
}

fn document(part: &str) -> Result<Value, DemoFailure> {
    serde_json::from_slice(&bytes(part)?).map_err(trouble)
}

fn bytes(part: &str) -> Result<Vec<u8>, DemoFailure> {
    URL_SAFE_NO_PAD.decode(part).map_err(trouble)
}
