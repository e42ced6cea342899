//! Header filters: the route lists the headers that reach the upstream; responses lose the headers reserved to the gateway.

#[cfg(test)]
mod tests;

use countersign_engine::{UndoOffer, UpstreamOutcome, data_subjects_of_header};
use countersign_protocol::{
    aap::version,
    project::{DataSubjectSource, Route},
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};

/// A signed statement of the caller's identity, for the upstream.
pub(crate) const IDENTITY: HeaderName = HeaderName::from_static("countersign-identity");
/// `none`: the upstream states that the call had no effect.
pub(crate) const EFFECT: HeaderName = HeaderName::from_static("countersign-effect");
/// The id of a write with an unknown outcome: repeats of it are refused.
pub(crate) const CALL: HeaderName = HeaderName::from_static("countersign-call");
/// The address that undoes the call, and until when.
const UNDO_URL: HeaderName = HeaderName::from_static("x-agent-undo-url");
const UNDO_EXPIRES_AT: HeaderName = HeaderName::from_static("x-agent-undo-expires-at");
pub(crate) const DPOP_NONCE: HeaderName = HeaderName::from_static("dpop-nonce");
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const VERSION_SERVED: HeaderName = HeaderName::from_static(version::SERVED);

/// The outcome according to the head of an upstream response.
pub(crate) fn outcome(status: StatusCode, answered: &HeaderMap, length: Option<u64>) -> UpstreamOutcome {
    let says_no_effect = answered.get(EFFECT).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"none"));
    let reason = status.canonical_reason().unwrap_or_default();
    UpstreamOutcome::Responded { status: status.as_u16(), reason, length, says_no_effect }
}

/// The largest response in which data subjects are looked for.
pub(crate) const MAX_SUBJECT_BODY: usize = 4 << 20;

/// The data subjects named in the response header of a route's source.
pub(crate) fn data_subjects(answered: &HeaderMap, source: &DataSubjectSource) -> Vec<String> {
    let Some(name) = &source.header else { return Vec::new() };
    data_subjects_of_header(answered.get_all(name.as_str()).iter().filter_map(|value| value.to_str().ok()))
}

/// The version that the response to a request names (AAP 22.2).
pub(crate) fn version_served<'a>(sent: &HeaderMap, accepted: &[&'a str]) -> &'a str {
    version::served(sent.get(version::HEADER).and_then(|value| value.to_str().ok()), accepted)
}

/// The request id, the version, and the nonce for the next proof where nonces are on (C-27).
pub(crate) fn add_response_headers(
    headers: &mut HeaderMap,
    request_id: &str,
    served: &'static str,
    nonce: Option<String>,
) {
    headers.insert(VERSION_SERVED, HeaderValue::from_static(served));
    if let Ok(id) = HeaderValue::from_str(request_id) {
        headers.insert(REQUEST_ID, id);
    }
    if let Some(nonce) = nonce.and_then(|nonce| HeaderValue::try_from(nonce).ok()) {
        headers.insert(DPOP_NONCE, nonce);
    }
}

/// Adds the id of an unsettled write to the response.
pub(crate) fn add_call_id(answer: &mut HeaderMap, call_id: Option<&str>) {
    if let Some(value) = call_id.and_then(|id| HeaderValue::from_str(id).ok()) {
        answer.insert(CALL, value);
    }
}

/// Adds the way to undo the call, while its undo window is open.
pub(crate) fn add_undo(answer: &mut HeaderMap, undo: Option<&UndoOffer>) {
    let Some(undo) = undo else { return };
    for (name, value) in [(UNDO_URL, undo.undo_url.clone()), (UNDO_EXPIRES_AT, undo.expires_at.to_rfc3339())] {
        if let Ok(value) = HeaderValue::from_str(&value) {
            answer.insert(name, value);
        }
    }
}

/// The client's headers that reach the upstream: content type and encoding, and those listed by the route.
pub(crate) fn forwarded(sent: &HeaderMap, route: &Route) -> HeaderMap {
    let mut passed = HeaderMap::with_capacity(route.headers.len() + 8);
    for name in [header::CONTENT_TYPE, header::CONTENT_ENCODING] {
        if let Some(value) = sent.get(&name) {
            passed.insert(name, value.clone());
        }
    }
    for listed in &route.headers {
        let Ok(name) = HeaderName::from_bytes(listed.as_bytes()) else { continue };
        // Applying a project's document checks this too; a header that must never pass is stopped here regardless.
        if never_passes(name.as_str()) || passed.contains_key(&name) {
            continue;
        }
        for value in sent.get_all(&name) {
            passed.append(name.clone(), value.clone());
        }
    }
    passed
}

/// Credentials, claims of clients about themselves or the path of the request, hop-by-hop headers, and headers that
/// would make the upstream do something else than was decided.
pub(crate) fn never_passes(name: &str) -> bool {
    is_hop_by_hop(name)
        || is_method_override(name)
        || matches!(name, "authorization" | "dpop" | "cookie" | "host" | "content-length" | "expect" | "forwarded")
        || ["x-agent-", "x-forwarded-", "x-original-", "x-rewrite-", "countersign-"].iter().any(|p| name.starts_with(p))
}

pub(crate) fn is_method_override(name: &str) -> bool {
    matches!(name, "x-http-method-override" | "x-http-method" | "x-method-override")
}

fn is_hop_by_hop(name: &str) -> bool {
    matches!(
        name,
        "connection"
            | "keep-alive"
            | "proxy-authenticate"
            | "proxy-authorization"
            | "proxy-connection"
            | "te"
            | "trailer"
            | "transfer-encoding"
            | "upgrade"
    )
}

/// Removes hop-by-hop headers, statements about agents and headers reserved to the gateway from an upstream response.
///
/// The gateway sets the length itself, except in the response to a HEAD, where it describes a body that is not sent.
pub(crate) fn clean_response(headers: &mut HeaderMap, to_head: bool) {
    remove_connection_headers(headers);
    if !to_head {
        headers.remove(header::CONTENT_LENGTH);
    }
    if !headers.keys().any(|name| is_reserved(name.as_str())) {
        return;
    }
    let challenges = challenges_to_keep(headers);
    let taken: Vec<HeaderName> = headers.keys().filter(|name| is_reserved(name.as_str())).cloned().collect();
    for name in taken {
        headers.remove(name);
    }
    for challenge in challenges {
        headers.append(header::WWW_AUTHENTICATE, challenge);
    }
}

fn is_reserved(name: &str) -> bool {
    is_hop_by_hop(name)
        // An agent that followed `alt-svc` would bypass the gateway.
        || matches!(name, "dpop-nonce" | "www-authenticate" | "alt-svc" | "x-request-id")
        || ["x-agent-", "countersign-", "aap-"].iter().any(|prefix| name.starts_with(prefix))
}

/// `DPoP` challenges are reserved to the gateway: the upstream never sees a proof.
fn challenges_to_keep(headers: &HeaderMap) -> Vec<HeaderValue> {
    let all = headers.get_all(header::WWW_AUTHENTICATE).iter();
    let speaks_of_dpop = |value: &&HeaderValue| value.as_bytes().to_ascii_lowercase().windows(4).any(|w| w == b"dpop");
    all.filter(|value| !speaks_of_dpop(value)).cloned().collect()
}

/// Headers listed in `Connection` are for this hop only (RFC 9110, 7.6.1).
fn remove_connection_headers(headers: &mut HeaderMap) {
    if !headers.contains_key(header::CONNECTION) {
        return;
    }
    let values = headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let names = values.flat_map(|value| value.split(',')).filter_map(|name| name.trim().parse().ok());
    let named: Vec<HeaderName> = names.collect();
    for name in named {
        headers.remove(name);
    }
}
