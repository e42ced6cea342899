//! Encryption of values in the database: AES-256-GCM under one key.

use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use zeroize::Zeroizing;

/// Names the format, so that a later one can be distinguished.
const FORM: &str = "1.";

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the cipher refused to seal")]
pub struct NotSealed;

/// One error for every reason: another key, another context, or changed bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not sealed by this key for this purpose")]
pub struct Unsealable;

/// Seals and opens under one key.
pub struct Sealer(RandomizedNonceKey);

impl Sealer {
    pub fn new(key: &[u8; 32]) -> Result<Self, NotSealed> {
        RandomizedNonceKey::new(&AES_256_GCM, key).map(Self).map_err(|_| NotSealed)
    }

    /// The context names the sealed value, such as `signing key KID`. It is authenticated, not stored: a sealed value
    /// moved to another row does not open there.
    pub fn seal(&self, context: &str, plaintext: &[u8]) -> Result<String, NotSealed> {
        let mut text = plaintext.to_vec();
        let nonce = self.0.seal_in_place_append_tag(Aad::from(context.as_bytes()), &mut text);
        let nonce = nonce.map_err(|_| NotSealed)?;
        Ok(format!("{FORM}{}", URL_SAFE_NO_PAD.encode([nonce.as_ref().as_slice(), &text].concat())))
    }

    pub fn open(&self, context: &str, sealed: &str) -> Result<Zeroizing<Vec<u8>>, Unsealable> {
        let text = sealed.strip_prefix(FORM).and_then(|text| URL_SAFE_NO_PAD.decode(text).ok()).ok_or(Unsealable)?;
        let (nonce, text) = text.split_at_checked(NONCE_LEN).ok_or(Unsealable)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| Unsealable)?;
        let mut text = Zeroizing::new(text.to_vec());
        let opened = self.0.open_in_place(nonce, Aad::from(context.as_bytes()), &mut text);
        let length = opened.map_err(|_| Unsealable)?.len();
        text.truncate(length);
        Ok(text)
    }
}

impl std::fmt::Debug for Sealer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sealer")
    }
}

#[cfg(test)]
mod tests;
