//! A message as its client sent it: read to know whom to answer, handed on as it stands. What stands twice in it is the
//! service's to refuse.

use serde_json::Value;

#[derive(Clone, Debug)]
pub struct Message {
    text: String,
    read: Value,
}

impl Message {
    pub fn read(text: impl Into<String>) -> Result<Self, serde_json::Error> {
        let text = text.into();
        Ok(Self { read: serde_json::from_str(&text)?, text })
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn method(&self) -> &str {
        self.read.get("method").and_then(Value::as_str).unwrap_or_default()
    }

    pub(super) fn params(&self) -> Option<&Value> {
        self.read.get("params")
    }

    /// What its answer is known by; none for a notification, and for an answer of the client's own.
    pub(super) fn id(&self) -> Option<&Value> {
        self.read.get("id").filter(|id| !id.is_null() && self.read.get("method").is_some())
    }
}
