//! A client's message: parsed for its id, forwarded unchanged. Refusing repeated members is left to the service.
//!
//! Some headers repeat parts of a message, so that intermediaries need not parse it. Since 2026-07-28 a service refuses
//! a message that contradicts its headers.

use crate::service_client::ServiceError;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};

/// JSON-RPC 2.0 reserves codes from -32000 on for implementations.
const NOT_ASKED: i64 = -32000;
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// Newer clients state the version in every message.
const OWN_VERSION: &str = "/_meta/io.modelcontextprotocol~1protocolVersion";

/// The first version with these headers. Versions are dates, and compare as text.
const LABELLED_SINCE: &str = "2026-07-28";

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

    /// Its headers; `agreed` is the version of the handshake, if there was one.
    pub(super) fn headers(&self, agreed: Option<&str>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let (method, params) = (self.method(), self.params());
        let own = params.and_then(|params| params.pointer(OWN_VERSION)).and_then(Value::as_str);
        let Some(version) = own.or(agreed).filter(|_| method != "initialize") else { return headers };
        headers.extend(HeaderValue::from_str(version).ok().map(|version| (VERSION, version)));
        if version >= LABELLED_SINCE {
            headers.extend(encoded(method).map(|method| (METHOD, method)));
            headers.extend(params.and_then(|params| name(method, params)).and_then(encoded).map(|name| (NAME, name)));
        }
        headers
    }

    /// The error response if it was not delivered; none if it expects none.
    pub(super) fn error_response(&self, why: &ServiceError) -> Option<Value> {
        let id = self.id()?;
        let mut error = json!({ "code": NOT_ASKED, "message": why.to_string() });
        if let (ServiceError::Refused(refused), Some(members)) = (why, error.as_object_mut()) {
            let data = json!({ "status": refused.status, "error": refused.code, "hint": refused.hint });
            members.insert("data".into(), data);
        }
        Some(json!({ "jsonrpc": "2.0", "id": id, "error": error }))
    }
}

fn name<'a>(method: &str, params: &'a Value) -> Option<&'a str> {
    match method {
        "tools/call" | "prompts/get" => params.get("name")?.as_str(),
        "resources/read" => params.get("uri")?.as_str(),
        _ => None,
    }
}

/// Plain if a header can hold it; otherwise in base64, marked as such.
fn encoded(text: &str) -> Option<HeaderValue> {
    let plain = text.bytes().all(|byte| (0x20..=0x7e).contains(&byte)) && text.trim() == text;
    let value = match plain && !text.starts_with("=?base64?") {
        true => text.to_owned(),
        false => format!("=?base64?{}?=", STANDARD.encode(text)),
    };
    HeaderValue::try_from(value).ok().filter(|value| !value.is_empty())
}
