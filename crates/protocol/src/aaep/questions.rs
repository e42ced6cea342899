//! `/aaep/v1/questions`: our addition to the protocol for a person's subscriber. The list has no reply tokens: these
//! come with the events of a subscription.

use super::event::{Choice, ResponseKind, Risk, YesNo};
use crate::{
    decisions::{Assurance, DecisionKind},
    question::QuestionFacts,
    request::{TextAuthor, WhatRuns},
    time::{UnixMillis, rfc3339, rfc3339_option},
};
use serde::{Deserialize, Serialize};

/// `GET /aaep/v1/questions`
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Questions {
    /// Oldest first.
    pub questions: Vec<OpenQuestion>,
}

/// A pending question that this person may see.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OpenQuestion {
    pub decision_id: String,
    pub event_id: String,
    pub session_id: String,
    pub kind: DecisionKind,
    /// The action of a confirmation, with everything that runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consequence: Option<String>,
    /// The question of a clarification.
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
    pub words: TextAuthor,
    /// The authenticated requester.
    pub agent_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk_level: Option<Risk>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub irreversible: Option<bool>,
    /// The result if nobody answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_decision: Option<YesNo>,
    pub language: String,
    #[serde(with = "rfc3339")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub asked_at: UnixMillis,
    #[serde(with = "rfc3339")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub deadline: UnixMillis,
    /// The latest deadline that requests for more time can reach.
    #[serde(with = "rfc3339")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub latest: UnixMillis,
    /// The least assurance of a valid answer.
    pub assurance: Assurance,
    /// Whether a subscriber token that its person allowed to approve high-risk actions suffices.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub high_risk_token_suffices: bool,
    /// The page for answering in a browser, at any assurance.
    pub page: String,
    /// When exactly the same call last ran.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "rfc3339_option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub last_ran_at: Option<UnixMillis>,
    #[serde(flatten)]
    pub offers: Offers,
    /// As in the event's extension.
    #[serde(flatten)]
    pub facts: QuestionFacts,
    /// The call that a confirmation approves, as in the event's extension; absent in questions from before this was
    /// recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<WhatRuns>,
}

/// The offers to this person, with the authentication of this request. Each is checked again when it is taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Offers {
    pub offer: Offer,
    /// The extensions of the deadline to choose from; none if nothing would move it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more_time_seconds: Vec<i64>,
}

/// The answers that a person may give.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Offer {
    /// This person may not answer, or the question is settled.
    Nothing,
    /// It is locked, and this person may not override the lock.
    Locked,
    /// It needs stronger authentication than any channel here offers.
    NotHere,
    /// It needs stronger authentication than this request had: `assurance`.
    ProveFirst,
    Decide {
        approve: bool,
        reject: bool,
    },
    Respond {
        kinds: Vec<ResponseKind>,
    },
}

/// `POST /aaep/v1/questions/{decision_id}/more-time`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct MoreTimeRequest {
    /// How many seconds to add to the deadline.
    pub seconds: i64,
}

/// The new deadline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MoreTime {
    pub decision_id: String,
    #[serde(with = "rfc3339")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub deadline: UnixMillis,
}
