//! A refusal as an HTTP answer: the envelope, and the headers that belong to it (AAP 16.1).

#[cfg(test)]
mod tests;

use countersign_engine::{Awaited, Refusal};
use countersign_protocol::aap::{
    dpop,
    error::{Code, Envelope},
    manifest, version,
};
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};

/// The envelope of a refusal.
pub fn envelope(refusal: &Refusal, request_id: &str) -> Response<String> {
    let code = refusal.code();
    let body = Envelope {
        error: code,
        error_description: refusal.to_string(),
        hint: Some(refusal.hint()),
        request_id: request_id.to_owned(),
        docs_url: None,
        decision: awaited(refusal).map(|awaited| awaited.decision.clone()).filter(|facts| !facts.is_empty()),
        clarification: match refusal {
            Refusal::ClarificationRequired(unclear) => Some(unclear.members()),
            _ => None,
        },
    };
    let mut response = Response::new(serde_json::to_string(&body).unwrap_or_default());
    *response.status_mut() = StatusCode::from_u16(status(refusal)).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    add_headers(refusal, headers);
    response
}

/// The code's own, except where a project wants another one for a missing confirmation (C-01).
fn status(refusal: &Refusal) -> u16 {
    awaited(refusal).map_or(refusal.code().status(), |awaited| awaited.status)
}

fn awaited(refusal: &Refusal) -> Option<&Awaited> {
    match refusal {
        Refusal::ConfirmationRequired(awaited) => Some(awaited),
        _ => None,
    }
}

fn add_headers(refusal: &Refusal, headers: &mut HeaderMap) {
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
    if let Some(challenge) = challenge(refusal).and_then(|text| HeaderValue::try_from(text).ok()) {
        headers.insert(header::WWW_AUTHENTICATE, challenge);
    }
    if refusal.code() == Code::SpecVersionUnsupported
        && let Ok(list) = HeaderValue::from_str(&version::list(version::ACCEPTED))
    {
        headers.insert(version::ACCEPTED_HEADER, list.clone());
        headers.insert(version::REQUIRED_HEADER, list);
    }
}

/// Where an agent without credentials finds out how to get some (AAP 3), and what was wrong with a proof (AAP 18.4).
fn challenge(refusal: &Refusal) -> Option<String> {
    match refusal {
        Refusal::NoCredentials => Some(format!("Bearer agent_auth_required=\"{}\"", manifest::PATH)),
        Refusal::DpopNonceMissing => Some(dpop::challenge(Some(dpop::USE_NONCE))),
        Refusal::DpopMissing(_) | Refusal::DpopInvalid(_) | Refusal::DpopReplayed => {
            Some(dpop::challenge(Some(dpop::INVALID_PROOF)))
        }
        _ => None,
    }
}
