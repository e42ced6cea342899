//! The operator's side of a webhook: a message counts only if its signatures verify and it is recent (AAP 17.8).

use super::{operator_site::WebhookRequest, plane::trouble, steps::check};
use crate::DemoFailure;
use aws_lc_rs::hmac;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use countersign_protocol::{
    aap::webhook::{SIGNATURE, STANDARD_ID, STANDARD_SIGNATURE, STANDARD_TIMESTAMP, TIMESTAMP},
    time::UnixMillis,
};
use serde_json::Value;

/// An older message may be a repeated one.
const MAX_AGE_S: i64 = 300;

/// The message, if both of its header signatures verify with the operator's secret.
pub(super) fn verified(request: &WebhookRequest, secret: &str, now: UnixMillis) -> Result<Value, DemoFailure> {
    let header = |name: &str| request.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let (id, at, own_at) = (header(STANDARD_ID), header(STANDARD_TIMESTAMP), header(TIMESTAMP));
    let secs: i64 = at.parse().map_err(trouble)?;
    check((now.secs() - secs).abs() <= MAX_AGE_S && own_at == at, "the message to the operator is not recent")?;
    let key = secret.strip_prefix("whsec_").unwrap_or_default();
    let key = hmac::Key::new(hmac::HMAC_SHA256, &STANDARD.decode(key).map_err(trouble)?);
    let own = header(SIGNATURE).strip_prefix("v1=").map(from_hex).unwrap_or_default();
    let standard = header(STANDARD_SIGNATURE).strip_prefix("v1,").unwrap_or_default();
    let standard = STANDARD.decode(standard).map_err(trouble)?;
    let body = request.body.as_ref();
    let own = hmac::verify(&key, &[at.as_bytes(), b".", body].concat(), &own);
    let standard = hmac::verify(&key, &[id.as_bytes(), b".", at.as_bytes(), b".", body].concat(), &standard);
    check(own.is_ok() && standard.is_ok(), "the message to the operator has a wrong signature")?;
    serde_json::from_slice(body).map_err(trouble)
}

fn from_hex(text: &str) -> Vec<u8> {
    let digits: Vec<_> = text.chars().map_while(|digit| digit.to_digit(16)).collect();
    digits
        .chunks(2)
        .filter_map(|pair| u8::try_from(pair.iter().fold(0, |byte, digit| byte * 16 + digit)).ok())
        .collect()
}
