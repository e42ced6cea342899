//! Headers that repeat parts of a message, so that intermediaries need not parse it. Since 2026-07-28 a service refuses
//! a message that contradicts its headers.

use super::McpMessage;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// Newer clients state the version in every message.
const OWN_VERSION: &str = "/_meta/io.modelcontextprotocol~1protocolVersion";

/// The first version with these headers. Versions are dates, and compare as text.
const LABELLED_SINCE: &str = "2026-07-28";

/// The headers of a message; `agreed` is the version of the handshake, if there was one.
pub(super) fn of(message: &McpMessage, agreed: Option<&str>) -> HeaderMap {
    let mut labels = HeaderMap::new();
    let (method, params) = (message.method(), message.params());
    let own = params.and_then(|params| params.pointer(OWN_VERSION)).and_then(Value::as_str);
    let Some(version) = own.or(agreed).filter(|_| method != "initialize") else { return labels };
    labels.extend(HeaderValue::from_str(version).ok().map(|version| (VERSION, version)));
    if version >= LABELLED_SINCE {
        labels.extend(encoded(method).map(|method| (METHOD, method)));
        labels.extend(params.and_then(|params| name(method, params)).and_then(encoded).map(|name| (NAME, name)));
    }
    labels
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
