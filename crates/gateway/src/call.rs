//! From an HTTP request to the call that the engine decides.

#[cfg(test)]
mod tests;

use crate::dry_run;
use countersign_engine::{Call, CallCredential, Refusal, Scheme};
use countersign_protocol::{aap::version, hash::Digest};
use http::{HeaderMap, HeaderName, HeaderValue, header, request::Parts};

const DPOP: HeaderName = HeaderName::from_static("dpop");
const MODE: HeaderName = HeaderName::from_static("x-agent-mode");
const DELEGATION: HeaderName = HeaderName::from_static("x-agent-delegation");
const ACCOUNT: HeaderName = HeaderName::from_static("x-agent-account");
const SESSION: HeaderName = HeaderName::from_static("x-agent-session");
const INTENT_TYPE: HeaderName = HeaderName::from_static("x-agent-intent-type");
const CONSENT: HeaderName = HeaderName::from_static("x-agent-consent");
const CONFIRM: HeaderName = HeaderName::from_static("x-agent-confirm");
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// An upper bound for any preference: some proxies on the way give up after a minute.
pub const LONGEST_WAIT_S: u64 = 55;

/// Reads the facts that the decision needs. Free-text intent is ignored (AAP 12.4). The marker of a dry run is taken out
/// of the request: what is decided, digested and forwarded is the same request without it.
///
/// `origin` is the public origin of this enforcement point, from its configuration and never from `Host`.
pub fn read_call(parts: &mut Parts, origin: &str) -> Result<Call, Refusal> {
    let dry_run = dry_run::take(parts)?;
    let headers = &parts.headers;
    let call = Call {
        method: parts.method.as_str().to_owned(),
        origin: origin.to_owned(),
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().map(str::to_owned),
        credential: credential(headers)?,
        ..Call::default()
    };
    // Missing credentials are reported before any other header is read.
    if call.credential == CallCredential::None {
        return Ok(call);
    }
    Ok(Call {
        proof: proof(headers),
        version: single(headers, version::HEADER)?.map(str::to_owned),
        mode: owned(headers, &MODE)?,
        delegation_id: owned(headers, &DELEGATION)?,
        account_id: owned(headers, &ACCOUNT)?,
        session_id: owned(headers, &SESSION)?,
        intent_type: owned(headers, &INTENT_TYPE)?,
        consent: single(headers, &CONSENT)?.map(|jwt| Digest::of(jwt.as_bytes())),
        idempotency_key: idempotency_key(headers),
        dry_run,
        confirm: owned(headers, &CONFIRM)?,
        wait_s: wait_s(headers),
        ..call
    })
}

/// A token under one of the two schemes. Anything else, several headers or tokens included, is rejected.
fn credential(headers: &HeaderMap) -> Result<CallCredential, Refusal> {
    let Some(value) = single(headers, header::AUTHORIZATION)? else { return Ok(CallCredential::None) };
    let Some((scheme, token)) = value.split_once(' ') else { return Ok(CallCredential::Unusable) };
    let token = token.trim();
    let scheme = match scheme {
        named if named.eq_ignore_ascii_case("bearer") => Scheme::Bearer,
        named if named.eq_ignore_ascii_case("dpop") => Scheme::Dpop,
        _ => return Ok(CallCredential::Unusable),
    };
    if token.is_empty() || token.contains([' ', ',', '\t']) {
        return Ok(CallCredential::Unusable);
    }
    Ok(CallCredential::Token { hash: Digest::of(token.as_bytes()), scheme })
}

/// The proof as sent. Several headers are joined to a list, and a list is no valid proof: it is rejected in its turn,
/// after the token (RFC 9449 4.3, R-28).
fn proof(headers: &HeaderMap) -> Option<String> {
    let mut values = headers.get_all(&DPOP).iter();
    let text = |value: &HeaderValue| match value.to_str() {
        Ok(text) => text.to_owned(),
        Err(_) => String::from_utf8_lossy(value.as_bytes()).into_owned(),
    };
    let first = text(values.next()?);
    Some(values.fold(first, |list, next| list + ", " + &text(next)))
}

/// The key can only cause a refusal, so several headers are joined to a list instead of rejected.
fn idempotency_key(headers: &HeaderMap) -> Option<Digest> {
    let values: Vec<&[u8]> = headers.get_all(&IDEMPOTENCY_KEY).iter().map(http::HeaderValue::as_bytes).collect();
    let list = values.join(&b", "[..]);
    (!list.is_empty()).then(|| Digest::of(&list))
}

fn owned(headers: &HeaderMap, name: &HeaderName) -> Result<Option<String>, Refusal> {
    single(headers, name).map(|value| value.map(str::to_owned))
}

/// A repeated header is ambiguous.
pub(crate) fn single(
    headers: &HeaderMap,
    name: impl http::header::AsHeaderName + std::fmt::Display + Clone,
) -> Result<Option<&str>, Refusal> {
    let mut values = headers.get_all(name.clone()).iter();
    let first = values.next();
    if values.next().is_some() {
        return Err(Refusal::invalid(format!("the header {name} occurs more than once")));
    }
    let text = first.map(http::HeaderValue::to_str).transpose();
    text.map_err(|_| Refusal::invalid(format!("the header {name} is not readable text")))
}

/// `Prefer: wait=N`: how long a caller prefers to wait for an approval. The first `wait` counts (RFC 7240, 2). An unreadable preference is ignored and is no error.
pub fn wait_s(headers: &HeaderMap) -> Option<u64> {
    let values = headers.get_all("prefer").iter().filter_map(|value| value.to_str().ok());
    let wait = values.flat_map(|value| value.split(',')).find_map(wait)?;
    wait.parse().ok().map(|seconds: u64| seconds.min(LONGEST_WAIT_S))
}

/// The value of one preference, if it is `wait`. Parameters behind a semicolon do not matter for it.
fn wait(preference: &str) -> Option<&str> {
    let (name, value) = preference.split(';').next()?.split_once('=')?;
    let value = value.trim();
    let bare = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value);
    name.trim().eq_ignore_ascii_case("wait").then_some(bare)
}
