//! From an HTTP request to the call that the engine decides.

use countersign_engine::{Call, Credential, Refusal};
use countersign_protocol::{aap::version, hash::Digest};
use http::{HeaderMap, header, request::Parts};
use percent_encoding::percent_decode_str;

/// Reads what the decision needs. Free-text intent is not even looked at (AAP 12.4).
pub fn read_call(parts: &Parts) -> Result<Call, Refusal> {
    let headers = &parts.headers;
    let call = Call {
        method: parts.method.as_str().to_owned(),
        path: parts.uri.path().to_owned(),
        credential: credential(headers)?,
        ..Call::default()
    };
    // Whoever brings no credentials is told so before anything else is looked at.
    if call.credential == Credential::None {
        return Ok(call);
    }
    Ok(Call {
        version: single(headers, version::HEADER)?,
        mode: single(headers, "x-agent-mode")?,
        delegation_id: single(headers, "x-agent-delegation")?,
        session_id: single(headers, "x-agent-session")?,
        intent_type: single(headers, "x-agent-intent-type")?,
        consent: single(headers, "x-agent-consent")?.map(|jwt| Digest::of(jwt.as_bytes())),
        dry_run: is_dry_run(parts),
        ..call
    })
}

fn credential(headers: &HeaderMap) -> Result<Credential, Refusal> {
    let Some(value) = single(headers, header::AUTHORIZATION.as_str())? else { return Ok(Credential::None) };
    match value.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => {
            Ok(Credential::Token(Digest::of(token.trim().as_bytes())))
        }
        _ => Ok(Credential::Unusable),
    }
}

/// A header that stands twice could be read in two ways.
fn single(headers: &HeaderMap, name: &str) -> Result<Option<String>, Refusal> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_some() {
        return Err(Refusal::invalid(format!("the header {name} stands more than once")));
    }
    let text = first.map(|value| value.to_str().map(str::to_owned)).transpose();
    text.map_err(|_| Refusal::invalid(format!("the header {name} is not readable text")))
}

/// Either spelling, whatever its value: as long as dry runs are not served, nothing like one is forwarded.
fn is_dry_run(parts: &Parts) -> bool {
    let named = |pair: &str| {
        let name = percent_decode_str(pair.split('=').next().unwrap_or_default());
        name.decode_utf8_lossy().eq_ignore_ascii_case("dry_run")
    };
    parts.headers.contains_key("x-agent-dry-run") || parts.uri.query().is_some_and(|query| query.split('&').any(named))
}
