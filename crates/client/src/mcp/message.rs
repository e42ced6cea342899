//! A client's message: parsed for its id, forwarded unchanged. Refusing repeated members is left to the service.

use serde_json::Value;

#[derive(Clone, Debug)]
pub struct McpMessage {
    text: String,
    read: Value,
}

impl McpMessage {
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

    /// The id of its response; none for a notification, and for a response of the client's own.
    pub(super) fn id(&self) -> Option<&Value> {
        self.read.get("id").filter(|id| !id.is_null() && self.read.get("method").is_some())
    }
}
