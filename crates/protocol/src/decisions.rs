//! `/v1`: decisions for agents that have no gateway in front of what they do.

mod check;

use crate::{
    aaep::event::{Choice, ResponseKind, Reversibility, Risk, YesNo},
    mplp::MplpId,
    time::{UnixMillis, rfc3339, rfc3339_option},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// `POST /v1/confirmations`
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ConfirmationRequest {
    /// What is to be done, in words for a person.
    pub action: String,
    /// What it will bring about.
    pub consequence: String,
    /// The tool that will run, by its name in the policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Exactly what it will be called with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub arguments: Option<Map<String, Value>>,
    /// The question in one short line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary_terse: Option<String>,
    /// The question in a sentence or two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary_normal: Option<String>,
    /// The question in full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary_detailed: Option<String>,
    /// More that helps to decide, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub extra_context: Option<Map<String, Value>>,
    /// How bad a mistake would be; policy may say more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk_level: Option<Risk>,
    /// Whether it cannot be undone; policy may say so too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub irreversible: Option<bool>,
    /// How it can be undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reversibility: Option<Reversibility>,
    /// How long people have to answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<i64>,
    /// What no answer in time comes to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_decision: Option<YesNo>,
    /// Which replies are offered; both if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_replies: Option<Vec<YesNo>>,
    /// The language of the texts, a BCP 47 tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// An AAEP session of yours to ask in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Tells questions apart where no tool is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// An id of your own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// The clarification session whose answers the person is to read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clarification_session_id: Option<MplpId>,
}

/// `POST /v1/clarifications`
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ClarificationRequest {
    /// What you need to know, in words for a person.
    pub question: String,
    /// How it may be answered; free text if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted_response_kinds: Option<Vec<ResponseKind>>,
    /// What to choose from, for multiple_choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choices: Option<Vec<Choice>>,
    /// What the person should know to answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The answer that counts if nobody answers in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_response: Option<String>,
    /// The question in one short line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary_terse: Option<String>,
    /// The question in a sentence or two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary_normal: Option<String>,
    /// The question in full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary_detailed: Option<String>,
    /// How long people have to answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<i64>,
    /// The language of the texts, a BCP 47 tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// An AAEP session of yours to ask in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Tells questions of the same words apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// An id of your own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
}

/// A decision as the agent that asked sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DecisionDocument {
    pub decision_id: String,
    pub kind: Kind,
    pub state: State,
    /// The AAEP session that it is asked in.
    pub session_id: String,
    /// The action digest, in hex: what a yes is for.
    pub digest: String,
    pub risk_level: Risk,
    pub irreversible: bool,
    #[serde(with = "rfc3339")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub asked_at: UnixMillis,
    /// Until when it can be answered.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "rfc3339_option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub deadline: Option<UnixMillis>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "rfc3339_option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub settled_at: Option<UnixMillis>,
    /// How whoever decided had proven themselves: `token`, `session`, `fresh`, `passkey`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assurance: Option<String>,
    /// Why not, in the person's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What the person would agree to instead; it needs a question of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub proposal: Option<Value>,
    /// The answer to a clarification: a text, true or false, or a number, by the kind that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(schema_with = described::response))]
    pub response: Option<Value>,
    /// The plan that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_id: Option<MplpId>,
    /// What nobody's answer came to, where `state` is `expired`: `accept`, `reject`, `default_response` or `unavailable`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expired_as: Option<String>,
    /// Why it was called off, where `state` is `cancelled`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancelled_for: Option<String>,
    /// What may run now, if anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowance: Option<AllowanceDocument>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution: Option<ExecutionDocument>,
    /// When exactly the same last ran.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "rfc3339_option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub last_ran_at: Option<UnixMillis>,
    /// Where a person answers it with a browser.
    pub page: String,
    /// For `X-Agent-Confirm`, where the gateway asked: there while it is accepted and unspent (C-02).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm_token: Option<String>,
    /// Where the request that the gateway kept runs without being sent again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redeem: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Confirmation,
    Clarification,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum State {
    Pending,
    Accepted,
    Rejected,
    Answered,
    Expired,
    Cancelled,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AllowanceDocument {
    /// `open`, `spent`, `lapsed` or `cancelled`.
    pub state: String,
    pub uses_left: i64,
    #[serde(with = "rfc3339")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub until: UnixMillis,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ExecutionDocument {
    pub execution_id: String,
    /// `claimed`, `committed`, `failed`, `released` or `unknown`.
    pub state: String,
    /// Report the outcome by then, or say that it is still running.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "rfc3339_option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub lease_until: Option<UnixMillis>,
    /// A later outcome contradicts what a person found: look at both.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub conflict: bool,
}

/// `POST /v1/decisions/{id}/claim`: what the agent is about to run, said again, so that a yes to one thing cannot be
/// spent on another.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ClaimRequest {
    /// The tool that was named in the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Exactly what it is about to be called with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub arguments: Option<Map<String, Value>>,
    /// In place of both: the action digest in hex, computed by the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// `POST /v1/decisions/{id}/outcome`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct OutcomeRequest {
    pub status: OutcomeStatus,
    /// Which use, where the yes is for more than one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_id: Option<String>,
    /// What went wrong, in words for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum OutcomeStatus {
    /// It is still under way: renews the lease.
    Running,
    Committed,
    Failed,
}

/// `GET /v1/actions`: what an agent may ask for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ActionsDocument {
    pub actions: Vec<ActionDocument>,
    /// Whether actions may be asked for that are not listed; they count as irreversible and of high risk.
    pub others: bool,
}

/// One action, by the project's policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ActionDocument {
    /// What `tool` of a confirmation request says.
    pub name: String,
    pub risk_level: Risk,
    pub irreversible: bool,
    /// How long people have to answer, unless the request says otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<i64>,
    /// What no answer in time comes to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_decision: Option<YesNo>,
}

/// `POST /v1/decisions/{id}/withdraw`
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct WithdrawRequest {
    /// Why, for the people who were asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[cfg(feature = "openapi")]
mod described {
    use utoipa::openapi::{Object, ObjectBuilder, Type};

    /// As many types as there are kinds of responses.
    pub(super) fn response() -> Object {
        let about =
            "The answer to a clarification: a text, true or false, or a number, by the kind that was asked for.";
        ObjectBuilder::new()
            .schema_type(utoipa::openapi::schema::SchemaType::from_iter([Type::String, Type::Boolean, Type::Number]))
            .description(Some(about))
            .build()
    }
}
