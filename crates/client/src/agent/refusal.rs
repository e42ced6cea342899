//! A service's refusal, and its meaning for the agent (AAP 16).

use super::notice::shown;
use countersign_outbound::Response;
use countersign_protocol::{aap::error::Code, json};
use http::{HeaderMap, StatusCode, header};
use serde::Deserialize;
use serde_json::Value;

const REVOKE_REASON: &str = "x-agent-revoke-reason";
const REASONS: [&str; 6] =
    ["policy_expired", "inactivity", "task_complete", "event_triggered", "manual_revoke", "key_rotation"];

/// A refusal as the service worded it. Its texts are cleared of control characters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the service answered {status} {code}: {description}{}", .hint.as_deref().map(|h| format!("; {h}")).unwrap_or_default())]
pub struct ServiceRefusal {
    pub status: u16,
    pub code: String,
    pub description: String,
    /// The service's hint about the next step.
    pub hint: Option<String>,
    pub request_id: Option<String>,
    /// Why a delegation ended, if that is the cause (AAP 8.5).
    pub revoke_reason: Option<String>,
    /// Seconds after which another attempt makes sense.
    pub retry_after: Option<u64>,
    /// The decision that a call needs (AAP 14.1).
    pub decision_id: Option<String>,
    /// The deviations of the call from an approved plan, as lines of text.
    pub plan_difference: Vec<String>,
}

/// An agent's reaction to a refusal. 401 and 403 never lead to the same one (AAP 16.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// Another access token may help.
    RegisterAgain,
    /// Ended by the person or their policy. No retry.
    CutOff,
    /// The delegation has ended; the person may connect again.
    Reconnect,
    /// The service saw no credentials at all.
    Unknown,
    /// The consent to this task has ended.
    ConsentOver,
    /// The agent is authenticated but not permitted. Other credentials would not help.
    Forbidden,
    Other,
}

#[derive(Deserialize)]
struct ErrorBody {
    error: String,
    error_description: Option<String>,
    hint: Option<String>,
    request_id: Option<String>,
    decision: Option<Value>,
}

impl ErrorBody {
    /// Only a code.
    fn of(error: String) -> Self {
        Self { error, error_description: None, hint: None, request_id: None, decision: None }
    }
}

impl ServiceRefusal {
    /// Whether a retry may succeed later.
    pub(crate) fn may_pass(&self) -> bool {
        self.status == 429 || self.status >= 500
    }

    /// Any error response of an AAP endpoint.
    pub(crate) fn of_endpoint(answer: &Response) -> Option<Self> {
        if answer.status.is_success() {
            return None;
        }
        let envelope = json::from_slice(&answer.body).unwrap_or_else(|_| ErrorBody::of(String::new()));
        Some(Self::new(answer, envelope))
    }

    /// For a resource call only the protocol's own refusals: an API's refusals are its response.
    pub(super) fn of_resource(answer: &Response) -> Option<Self> {
        let status = answer.status.as_u16();
        let known = |envelope: &ErrorBody| {
            Code::ALL.iter().any(|code| code.as_str() == envelope.error && code.status() == status)
        };
        let envelope = json::from_slice(&answer.body).ok().filter(known);
        envelope.or_else(|| from_headers(answer)).map(|envelope| Self::new(answer, envelope))
    }

    fn new(answer: &Response, envelope: ErrorBody) -> Self {
        let decision_id = envelope.decision.as_ref().and_then(|decision| decision.get("decision_id")?.as_str());
        let plan_difference = envelope.decision.as_ref().map(plan_difference).unwrap_or_default();
        let retry_after = text(&answer.headers, header::RETRY_AFTER.as_str()).and_then(|value| value.parse().ok());
        Self {
            status: answer.status.as_u16(),
            code: if envelope.error.is_empty() { "without a code".to_owned() } else { shown(&envelope.error) },
            description: shown(envelope.error_description.as_deref().unwrap_or("no reason was given")),
            hint: envelope.hint.as_deref().map(shown),
            request_id: envelope.request_id.as_deref().map(shown),
            revoke_reason: text(&answer.headers, REVOKE_REASON).map(str::to_owned),
            retry_after,
            decision_id: decision_id.map(shown),
            plan_difference,
        }
    }

    /// Whether the refusal has a code of the protocol.
    pub(crate) fn has_code(&self) -> bool {
        Code::ALL.iter().any(|code| code.as_str() == self.code)
    }

    pub(super) fn is(&self, code: Code) -> bool {
        self.code == code.as_str() && self.status == code.status()
    }

    pub(super) fn fate(&self) -> Fate {
        match self.status {
            401 => self.fate_of_401(),
            403 => Fate::Forbidden,
            _ => Fate::Other,
        }
    }

    fn fate_of_401(&self) -> Fate {
        // The header reports a revocation; only a withdrawn key of ours is no act of a person, and the next key repairs
        // it (C-88).
        if self.revoke_reason.as_deref().is_some_and(|reason| reason != "key_rotation") {
            return Fate::CutOff;
        }
        match Code::ALL.iter().find(|code| self.is(**code)) {
            Some(Code::AccessTokenExpired | Code::AccessTokenInvalid | Code::OperatorJwtInvalid) => Fate::RegisterAgain,
            Some(Code::DelegationRevoked | Code::AutoRevoked) => Fate::CutOff,
            Some(Code::DelegationExpired | Code::DelegationNotFound | Code::DelegationInvalid) => Fate::Reconnect,
            Some(Code::AgentAuthRequired) => Fate::Unknown,
            Some(Code::ConsentExpired | Code::ConsentInvalid | Code::ConsentMissing) => Fate::ConsentOver,
            _ => Fate::Other,
        }
    }

    /// The reason, if it is one of the protocol's.
    pub(super) fn known_reason(&self) -> String {
        let told = self.revoke_reason.as_deref().filter(|reason| REASONS.contains(reason));
        told.unwrap_or("not told").to_owned()
    }
}

fn plan_difference(decision: &Value) -> Vec<String> {
    let lines = decision.get("plan_difference").and_then(|told| told.get("lines")?.as_array());
    lines.into_iter().flatten().filter_map(Value::as_str).map(shown).collect()
}

/// A revocation or a challenge without a readable envelope.
fn from_headers(answer: &Response) -> Option<ErrorBody> {
    let headers = &answer.headers;
    let challenge = text(headers, header::WWW_AUTHENTICATE.as_str()).unwrap_or_default();
    let code = match answer.status {
        StatusCode::UNAUTHORIZED if headers.contains_key(REVOKE_REASON) => Code::DelegationRevoked,
        StatusCode::UNAUTHORIZED if challenge.contains("agent_auth_required") => Code::AgentAuthRequired,
        _ => return None,
    };
    Some(ErrorBody::of(code.as_str().to_owned()))
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}
