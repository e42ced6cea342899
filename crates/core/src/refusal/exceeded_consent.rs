//! A call beyond the scopes of its consent receipt, and the request for the missing scope (AAP 12.3).

use super::Refusal;
use countersign_protocol::aap::scope_approval::{DeniedFor, ScopeRequest, ScopeStatus};
use serde_json::{Map, Value, json};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExceededConsent {
    pub action: String,
    /// The scope of the delegation that the person can be asked for, if anybody is asked here.
    pub scope: Option<String>,
    pub status: ScopeStatus,
    pub denied_for: Option<DeniedFor>,
    /// The part of the request open to the agent: decision, scopes, the address to poll, the page, the reason.
    pub request: Map<String, Value>,
}

impl ExceededConsent {
    pub fn of(action: &str, scope: Option<&str>) -> Self {
        Self {
            action: action.to_owned(),
            scope: scope.map(str::to_owned),
            status: ScopeStatus::None,
            denied_for: None,
            request: Map::new(),
        }
    }

    /// The same refusal with the request for the scope. `poll`: the address of its answer.
    #[must_use]
    pub fn with_request(self, request: &ScopeRequest, poll: String) -> Self {
        // A registration meanwhile may have withdrawn it.
        if request.status == ScopeStatus::None {
            return self;
        }
        let mut members = match json!(request) {
            Value::Object(members) => members,
            _ => Map::new(),
        };
        members.insert("poll".into(), json!(poll));
        Self { status: request.status, denied_for: request.denied_for, request: members, ..self }
    }

    pub(super) fn hint(&self) -> &'static str {
        match (self.status, self.denied_for) {
            (ScopeStatus::Pending, _) => {
                "the user was asked: poll GET /agent/scope-approval with your session_id, and repeat the request once it \
                 is approved"
            }
            (ScopeStatus::Approved, _) => "the user approved the scope: send the request again",
            (ScopeStatus::Denied, Some(DeniedFor::Expired)) => {
                "nobody answered in time; a request after ask_again_at asks the user again"
            }
            (ScopeStatus::Denied, _) => "do not retry: tell the user that the task needs this scope, or give it up",
            (ScopeStatus::None, _) => "ask the user for consent to this scope, or give the task up",
        }
    }
}

impl std::fmt::Display for ExceededConsent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the action {} is outside the scopes of the consent receipt", self.action)?;
        let Some(scope) = &self.scope else { return Ok(()) };
        match (self.status, self.denied_for) {
            (ScopeStatus::None, _) => Ok(()),
            (ScopeStatus::Pending, _) => write!(f, "; a person's answer about the scope {scope} is pending"),
            (ScopeStatus::Approved, _) => write!(f, "; the scope {scope} was approved meanwhile"),
            (ScopeStatus::Denied, Some(DeniedFor::Expired)) => {
                write!(f, "; nobody answered the request for the scope {scope} in time")
            }
            (ScopeStatus::Denied, _) => write!(f, "; a person denied the scope {scope}"),
        }
    }
}

impl From<ExceededConsent> for Refusal {
    fn from(exceeded: ExceededConsent) -> Self {
        Self::ConsentScopeExceeded(Box::new(exceeded))
    }
}
