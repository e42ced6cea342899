//! Text that must not be shown.

/// Prints as `***`, also inside the debug output of its owner.
#[derive(Clone, PartialEq, Eq)]
pub struct ConfigSecret(String);

/// Replaces a secret in output.
pub const MASK: &str = "***";

impl ConfigSecret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for ConfigSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(MASK)
    }
}
