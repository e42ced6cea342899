//! A complete request that needs approval: built from the parts to be forwarded, and the only source of the forwarded request.

#[cfg(test)]
mod tests;

use crate::{call::single, headers};
use bytes::Bytes;
use countersign_engine::{HttpRequest, Refusal};
use countersign_protocol::project::Route;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header, request::Parts};

/// The largest body that is kept, unless the route sets another limit.
pub(crate) const MAX_BODY_BYTES: u64 = 1024 * 1024;

/// All parts that the digest covers and the upstream would get. A covered header that is repeated or is no text is
/// ambiguous for rendering and digest, so it is refused.
pub(crate) fn complete(parts: &Parts, origin: &str, route: &Route, body: &Bytes) -> Result<HttpRequest, Refusal> {
    let passed = headers::forwarded(&parts.headers, route);
    let text = |name: &HeaderName| single(&parts.headers, name).map(|value| value.unwrap_or_default().to_owned());
    let mut request = HttpRequest {
        method: parts.method.as_str().to_owned(),
        origin: origin.to_owned(),
        target: target(&parts.uri).to_owned(),
        content_type: text(&header::CONTENT_TYPE)?,
        content_encoding: text(&header::CONTENT_ENCODING)?,
        headers: Default::default(),
        body: body.to_vec(),
    };
    let is_content = |name: &HeaderName| *name == header::CONTENT_TYPE || *name == header::CONTENT_ENCODING;
    for name in passed.keys().filter(|name| !is_content(name)) {
        request.headers.insert(name.as_str().to_owned(), text(name)?);
    }
    Ok(request)
}

/// The head of a write that is forwarded unread; repeats of the write are recognised by it. Unlike a rendered
/// request it may be ambiguous: at worst a different write is taken for a repeat and refused, and nothing runs twice.
pub(crate) fn head_of_write(method: &Method, uri: &Uri, origin: &str, passed: &HeaderMap) -> HttpRequest {
    let text = |name: &HeaderName| {
        let values: Vec<_> = passed.get_all(name).iter().map(|v| String::from_utf8_lossy(v.as_bytes())).collect();
        values.join(", ")
    };
    let is_content = |name: &HeaderName| *name == header::CONTENT_TYPE || *name == header::CONTENT_ENCODING;
    let listed = passed.keys().filter(|name| !is_content(name)).map(|name| (name.as_str().to_owned(), text(name)));
    HttpRequest {
        method: method.as_str().to_owned(),
        origin: origin.to_owned(),
        target: target(uri).to_owned(),
        content_type: text(&header::CONTENT_TYPE),
        content_encoding: text(&header::CONTENT_ENCODING),
        headers: listed.collect(),
        body: Vec::new(),
    }
}

/// Path and query as sent, without the scheme and authority of an absolute form.
pub(crate) fn target(uri: &Uri) -> &str {
    uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str)
}

/// Method, target and headers of a complete request, taken from it alone.
pub(crate) fn head_of(request: &HttpRequest) -> Result<(Method, Uri, HeaderMap), Refusal> {
    let method = Method::from_bytes(request.method.as_bytes()).map_err(|_| Refusal::Internal)?;
    let uri: Uri = request.target.parse().map_err(|_| Refusal::Internal)?;
    let mut passed = HeaderMap::with_capacity(request.headers.len() + 8);
    let content =
        [("content-type", &request.content_type), ("content-encoding", &request.content_encoding)].into_iter();
    let content = content.filter(|(_, value)| !value.is_empty());
    let listed = request.headers.iter().map(|(name, value)| (name.as_str(), value));
    for (name, value) in content.chain(listed) {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| Refusal::Internal)?;
        passed.insert(name, HeaderValue::from_str(value).map_err(|_| Refusal::Internal)?);
    }
    Ok((method, uri, passed))
}
