//! HMAC-SHA-256 with a purpose: a tag made for one thing is worth nothing for another.

use aws_lc_rs::{constant_time, hmac};

/// A key for tags.
#[derive(Clone)]
pub struct Mac(hmac::Key);

impl Mac {
    pub fn new(key: &[u8; 32]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, key))
    }

    /// The context's length goes first, so that its end cannot be moved into the bytes.
    pub fn tag(&self, context: &str, bytes: &[u8]) -> [u8; 32] {
        let mut over = hmac::Context::with_key(&self.0);
        over.update(&(context.len() as u64).to_be_bytes());
        over.update(context.as_bytes());
        over.update(bytes);
        let mut tag = [0; 32];
        tag.copy_from_slice(over.sign().as_ref());
        tag
    }

    /// Takes the same time wherever the first difference is.
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
