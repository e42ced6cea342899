//! Text that must not be shown.

/// Prints as `***`, also inside a debug print of whatever holds it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// What stands where a secret would.
pub const MASK: &str = "***";

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(MASK)
    }
}
