//! Confidential text: never printed, wiped when dropped.

use zeroize::Zeroizing;

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct ClientSecret(Zeroizing<String>);

impl ClientSecret {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(Zeroizing::new(text.into()))
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for ClientSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("(secret)")
    }
}
