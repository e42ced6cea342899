//! The service's own statements about a question, apart from the agent's context.

mod deviation;

pub use deviation::{AllowedValue, ArgumentDifference, Deviation, PlanDeviation, Was};

use crate::{
    clarification::{DigestText, GivenBy},
    mplp::MplpId,
    request::TextAuthor,
    time::{UnixMillis, rfc3339},
};
use serde::{Deserialize, Serialize};

/// Members of our extension in the event of a confirmation request, and of the list of open questions. No agent can
/// write them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QuestionFacts {
    /// The held HTTP request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestFacts>,
    /// How the call deviates from an approved plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deviation: Option<PlanDeviation>,
    /// The clarified answers behind the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clarification: Option<ClarificationFacts>,
    /// The proposed plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<ProposedPlan>,
    /// The scopes that the task asks for, beyond its consent receipt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope_expansion: Option<RequestedScopes>,
}

/// Scopes of the delegation that a task asks for, as the service describes them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RequestedScopes {
    /// The AAP session of the task.
    pub session_id: String,
    pub scopes: Vec<RequestedScope>,
    /// The latest end of an approval: that of the consent receipt or of the delegation.
    #[serde(with = "rfc3339")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub until: UnixMillis,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RequestedScope {
    pub id: String,
    /// The service's own description.
    pub description: String,
}

/// A request at the gateway. Its texts contain only visible characters and may be shortened: `runs` is complete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RequestFacts {
    pub method: String,
    /// The path and the query.
    pub target: String,
    /// Empty if the request has none.
    pub content_type: String,
    pub body_bytes: usize,
    /// In hex.
    pub body_sha256: String,
    /// The amounts that the route declares.
    pub values: Vec<RequestAmount>,
}

/// An amount as written: never a double.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RequestAmount {
    pub name: String,
    pub amount: String,
    pub unit: String,
}

/// The result of a clarification session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ClarificationFacts {
    pub session_id: MplpId,
    pub rounds: i64,
    /// The head of the session's signed chain.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub chain_head: DigestText,
    pub answers: Vec<ClarifiedAnswer>,
    /// The number of further answers; the session's record has all.
    pub more: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ClarifiedAnswer {
    /// The path of the field in the agent's plan.
    pub field: String,
    pub question: String,
    pub answer: String,
    pub given_by: GivenBy,
}

/// A plan as it was proposed. The steps and changes at the end may be left out: the page of the question has all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProposedPlan {
    pub plan_id: MplpId,
    /// How long its steps may run after the approval.
    pub lasts_seconds: i64,
    pub steps: Vec<ProposedStep>,
    pub steps_left_out: usize,
    /// The changes since the last proposal, one per line, in English.
    pub changes: Vec<String>,
    pub changes_left_out: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProposedStep {
    pub step_id: MplpId,
    /// In the agent's words.
    pub description: String,
    /// Absent for a step without an enforced action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<ProposedCall>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProposedCall {
    /// The description shown to people.
    pub shown: String,
    pub words: TextAuthor,
    pub uses: i64,
    /// Every call needs approval, even under the approved plan.
    pub asks_again: bool,
}
