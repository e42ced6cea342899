//! `/aaep/v1/questions`: what our service offers a person's subscriber beside the protocol. The list has no reply
//! tokens: those come with the events, to whoever listens.

use super::event::{Choice, ResponseKind, Risk, YesNo};
use crate::{
    decisions::Kind,
    request::WhatRuns,
    time::{UnixMillis, rfc3339, rfc3339_option},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// `GET /aaep/v1/questions`
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Questions {
    /// Oldest first.
    pub questions: Vec<OpenQuestion>,
}

/// A question that this person may see and that nobody has answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OpenQuestion {
    pub decision_id: String,
    pub event_id: String,
    pub session_id: String,
    pub kind: Kind,
    /// What is to be done, of a confirmation, with everything that runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consequence: Option<String>,
    /// What is asked, of a clarification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted_response_kinds: Vec<ResponseKind>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Choice>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_replies: Vec<YesNo>,
    /// Whose words these are: `agent`, or `owner` where the service rendered them.
    pub words: String,
    /// Who asks, as they proved themselves.
    pub agent_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk_level: Option<Risk>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub irreversible: Option<bool>,
    /// What nobody's answer comes to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_decision: Option<YesNo>,
    pub language: String,
    #[serde(with = "rfc3339")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub asked_at: UnixMillis,
    #[serde(with = "rfc3339")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub deadline: UnixMillis,
    /// No request for more time gets beyond this.
    #[serde(with = "rfc3339")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub latest: UnixMillis,
    /// The least proof that an answer needs to count: `token`, `session`, `fresh` or `passkey`.
    pub assurance: String,
    /// Whether a subscriber token that its person allowed to approve high-risk actions is proof enough.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub high_risk_token_suffices: bool,
    /// Where the person can answer it with a browser, however much proof it needs.
    pub page: String,
    /// When exactly the same last ran.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "rfc3339_option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub last_ran_at: Option<UnixMillis>,
    /// What was clarified before it, and whose answers these are; as in the event's `extra_context`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub clarification: Option<Value>,
    /// What a confirmation lets run, as in the event's extension; not there if it was asked before that was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<WhatRuns>,
}

/// `POST /aaep/v1/questions/{decision_id}/more-time`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct MoreTimeRequest {
    /// How much later the deadline shall be.
    pub seconds: i64,
}

/// Until when there is time now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MoreTime {
    pub decision_id: String,
    #[serde(with = "rfc3339")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub deadline: UnixMillis,
}
