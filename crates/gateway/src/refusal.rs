//! A refusal as an HTTP response: the envelope and its headers (AAP 16.1).

#[cfg(test)]
mod tests;

use countersign_engine::{PendingApproval, Refusal, Scheme};
use countersign_protocol::aap::{
    dpop,
    error::{Code, ErrorEnvelope},
    manifest, version,
};
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use serde_json::{Map, Value};

/// The challenge for people: they authenticate with a cookie, which this page issues.
pub const SIGN_IN: &str = "Cookie realm=\"people\", form-action=\"/sign-in\"";

/// The scheme under which a request brought its token, if it brought one.
pub fn presented_scheme(sent: &HeaderMap) -> Scheme {
    let value = sent.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    match value.split(' ').next() {
        Some(scheme) if scheme.eq_ignore_ascii_case(dpop::SCHEME) => Scheme::Dpop,
        _ => Scheme::Bearer,
    }
}

/// The envelope of a refusal. A challenge uses the scheme of the caller's own token.
pub fn envelope(refusal: &Refusal, request_id: &str, scheme: Scheme) -> Response<String> {
    let code = refusal.code();
    let body = ErrorEnvelope {
        error: code,
        error_description: refusal.to_string(),
        hint: Some(refusal.hint()),
        request_id: request_id.to_owned(),
        docs_url: None,
        decision: decision(refusal).filter(|facts| !facts.is_empty()),
        call: call(refusal),
        clarification: match refusal {
            Refusal::ClarificationRequired(unclear) => Some(unclear.members()),
            _ => None,
        },
        scope_request: match refusal {
            Refusal::ConsentScopeExceeded(exceeded) => Some(exceeded.request.clone()).filter(|asked| !asked.is_empty()),
            _ => None,
        },
    };
    let mut response = Response::new(serde_json::to_string(&body).unwrap_or_default());
    *response.status_mut() = StatusCode::from_u16(status(refusal)).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    add_headers(refusal, headers, scheme);
    response
}

/// The code's own status, except where a project configures another one for a missing confirmation (C-01).
fn status(refusal: &Refusal) -> u16 {
    pending_approval(refusal).map_or(refusal.code().status(), |awaited| awaited.status)
}

fn pending_approval(refusal: &Refusal) -> Option<&PendingApproval> {
    match refusal {
        Refusal::ConfirmationRequired(awaited) => Some(awaited),
        _ => None,
    }
}

/// Facts of the decision that the call needs, or that approved it.
fn decision(refusal: &Refusal) -> Option<Map<String, Value>> {
    let approved = || refusal.decision_id().map(|id| Map::from_iter([("decision_id".to_owned(), Value::from(id))]));
    pending_approval(refusal).map(|awaited| awaited.decision.clone()).or_else(approved)
}

/// The id of a write that may have happened, and the end of the period in which its repeats are refused.
fn call(refusal: &Refusal) -> Option<Map<String, Value>> {
    let mut members = Map::from_iter([("call_id".to_owned(), Value::from(refusal.call_id()?))]);
    if let Refusal::WriteUnsettled { until, .. } = refusal {
        members.insert("until".to_owned(), until.to_rfc3339().into());
    }
    Some(members)
}

fn add_headers(refusal: &Refusal, headers: &mut HeaderMap, scheme: Scheme) {
    if let Some(reason) = refusal.revoke_reason() {
        headers.insert("x-agent-revoke-reason", HeaderValue::from_static(reason.as_str()));
    }
    if let Some(seconds) = refusal.retry_after_s() {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    if let Refusal::UsageLimitReached { limit, .. } = refusal {
        headers.insert("x-agent-limit-reason", HeaderValue::from_static(limit.as_str()));
    }
    if refusal.code() == Code::IrreversibleRequiresConfirm {
        headers.insert("precondition", HeaderValue::from_static("confirmation"));
    }
    if let Some(challenge) = challenge(refusal, scheme).and_then(|text| HeaderValue::try_from(text).ok()) {
        headers.insert(header::WWW_AUTHENTICATE, challenge);
    }
    if refusal.code() == Code::SpecVersionUnsupported
        && let Ok(list) = HeaderValue::from_str(&version::list(version::ACCEPTED))
    {
        headers.insert(version::ACCEPTED_HEADER, list.clone());
        headers.insert(version::REQUIRED_HEADER, list);
    }
}

/// Every 401 has a challenge (RFC 9110 11.6.1). It points an agent without credentials to the discovery document (AAP 3),
/// names the error of a proof (AAP 18.4), or names the error of the token or its grant (RFC 6750 3.1, RFC 9449 7.1).
fn challenge(refusal: &Refusal, scheme: Scheme) -> Option<String> {
    match refusal {
        Refusal::NoCredentials => Some(format!("Bearer agent_auth_required=\"{}\"", manifest::PATH)),
        Refusal::DpopNonceMissing => Some(dpop::challenge(Some(dpop::USE_NONCE))),
        Refusal::DpopMissing(_) | Refusal::DpopInvalid(_) | Refusal::DpopReplayed => {
            Some(dpop::challenge(Some(dpop::INVALID_PROOF)))
        }
        Refusal::SignInRequired | Refusal::SignInFailed => Some(SIGN_IN.to_owned()),
        refusal if refusal.code().status() != 401 => None,
        _ => Some(match scheme {
            Scheme::Bearer => format!("Bearer error=\"{}\"", dpop::INVALID_TOKEN),
            Scheme::Dpop => dpop::challenge(Some(dpop::INVALID_TOKEN)),
        }),
    }
}
