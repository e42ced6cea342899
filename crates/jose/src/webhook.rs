//! Signatures of webhook messages (AAP 17.8, C-18), also in the form of Standard Webhooks.

use aws_lc_rs::hmac;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use countersign_protocol::{
    aap::webhook::{SIGNATURE, STANDARD_ID, STANDARD_SIGNATURE, STANDARD_TIMESTAMP, TIMESTAMP},
    hash::Digest,
};

/// The form of a secret in Standard Webhooks: this and base64.
const PREFIX: &str = "whsec_";

/// A key shared with one operator, for its messages only.
#[derive(Clone)]
pub struct WebhookKey(hmac::Key);

impl WebhookKey {
    pub fn new(key: &[u8; 32]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, key))
    }

    /// The secret as its operator receives it, once.
    pub fn secret_text(key: &[u8; 32]) -> String {
        format!("{PREFIX}{}", STANDARD.encode(key))
    }

    /// The body member `signature`: hex, over the canonical form of the other members.
    pub fn body_signature(&self, canonical: &[u8]) -> String {
        self.tag(&[canonical]).hex()
    }

    fn tag(&self, parts: &[&[u8]]) -> Digest {
        let mut over = hmac::Context::with_key(&self.0);
        parts.iter().for_each(|part| over.update(part));
        let mut tag = [0; 32];
        tag.copy_from_slice(over.sign().as_ref());
        Digest(tag)
    }
}

/// The headers of one attempt. Each active key signs, the newest first, so that the holder of either can verify.
pub fn webhook_headers(keys: &[WebhookKey], id: &str, secs: i64, body: &[u8]) -> [(&'static str, String); 5] {
    let at = secs.to_string();
    let own = |key: &WebhookKey| format!("v1={}", key.tag(&[at.as_bytes(), b".", body]).hex());
    let standard = |key: &WebhookKey| {
        let tag = key.tag(&[id.as_bytes(), b".", at.as_bytes(), b".", body]);
        format!("v1,{}", STANDARD.encode(tag.0))
    };
    [
        (TIMESTAMP, at.clone()),
        (SIGNATURE, keys.iter().map(own).collect::<Vec<_>>().join(",")),
        (STANDARD_ID, id.to_owned()),
        (STANDARD_TIMESTAMP, at.clone()),
        (STANDARD_SIGNATURE, keys.iter().map(standard).collect::<Vec<_>>().join(" ")),
    ]
}

impl std::fmt::Debug for WebhookKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WebhookKey")
    }
}

#[cfg(test)]
mod tests;
