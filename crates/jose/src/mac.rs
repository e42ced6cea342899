//! HMAC-SHA-256 with a context: a tag for one purpose is invalid for another.

use aws_lc_rs::{constant_time, hmac};

/// A key for tags.
#[derive(Clone)]
pub struct Mac(hmac::Key);

impl Mac {
    pub fn new(key: &[u8; 32]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, key))
    }

    /// The context is length-prefixed, so that its end cannot be moved into the bytes.
    pub fn tag(&self, context: &str, bytes: &[u8]) -> [u8; 32] {
        let mut over = hmac::Context::with_key(&self.0);
        over.update(&(context.len() as u64).to_be_bytes());
        over.update(context.as_bytes());
        over.update(bytes);
        let mut tag = [0; 32];
        tag.copy_from_slice(over.sign().as_ref());
        tag
    }

    /// Constant time, regardless of the position of the first difference.
    pub fn verify(&self, context: &str, bytes: &[u8], tag: &[u8]) -> bool {
        constant_time::verify_slices_are_equal(&self.tag(context, bytes), tag).is_ok()
    }
}

impl std::fmt::Debug for Mac {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Mac")
    }
}

#[cfg(test)]
mod tests;
