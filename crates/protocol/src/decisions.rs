//! `/v1`: decisions for agents without a gateway in front of their actions.

mod check;

use crate::{
    aaep::event::{Choice, ResponseKind, Reversibility, Risk, YesNo},
    mplp::{AllowanceStatus, MplpId},
    time::{UnixMillis, rfc3339, rfc3339_option},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// `POST /v1/confirmations`
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ConfirmationRequest {
    /// The action, in words for a person.
    pub action: String,
    /// Its consequence.
    pub consequence: String,
    /// The tool that will run, by its name in the policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The exact arguments of the call.
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
    /// Further facts for the decision, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub extra_context: Option<Map<String, Value>>,
    /// The severity of a mistake; policy may raise it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk_level: Option<Risk>,
    /// Whether it is irreversible; policy may say so too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub irreversible: Option<bool>,
    /// How it can be undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reversibility: Option<Reversibility>,
    /// How long people have to answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<i64>,
    /// The result if nobody answers in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_decision: Option<YesNo>,
    /// The offered replies; both if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_replies: Option<Vec<YesNo>>,
    /// The language of the texts, a BCP 47 tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// An AAEP session of yours to ask in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Distinguishes questions without a tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// An id of your own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// The clarification session with the answers for the person to read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clarification_session_id: Option<MplpId>,
}

/// `POST /v1/clarifications`
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ClarificationRequest {
    /// The question, in words for a person.
    pub question: String,
    /// The accepted kinds of answers; free text if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted_response_kinds: Option<Vec<ResponseKind>>,
    /// The choices, for multiple_choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choices: Option<Vec<Choice>>,
    /// Background for the person to answer.
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
    /// Distinguishes questions with the same text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// An id of your own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
}

/// A decision as the requesting agent sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DecisionDocument {
    pub decision_id: String,
    pub kind: DecisionKind,
    pub state: State,
    /// The AAEP session in which it is asked.
    pub session_id: String,
    /// The action digest that an approval covers, in hex.
    pub digest: String,
    pub risk_level: Risk,
    pub irreversible: bool,
    #[serde(with = "rfc3339")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub asked_at: UnixMillis,
    /// The deadline for an answer.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "rfc3339_option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub deadline: Option<UnixMillis>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "rfc3339_option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub settled_at: Option<UnixMillis>,
    /// The assurance of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assurance: Option<Assurance>,
    /// The reason for a rejection, in the person's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The person's alternative; it needs a new question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub proposal: Option<Value>,
    /// The answer to a clarification: a text, true or false, or a number, by the kind that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(schema_with = described::response))]
    pub response: Option<Value>,
    /// The plan that it concerns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_id: Option<MplpId>,
    /// The applied default if `state` is `expired`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expired_as: Option<ExpiredAs>,
    /// Why it was cancelled, if `state` is `cancelled`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancelled_for: Option<CancelledFor>,
    /// The current permission to run, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowance: Option<AllowanceDocument>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution: Option<ExecutionDocument>,
    /// When exactly the same call last ran.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "rfc3339_option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub last_ran_at: Option<UnixMillis>,
    /// The page for answering in a browser.
    pub page: String,
    /// For `X-Agent-Confirm`, if the gateway asked: present while approved and unclaimed (C-02).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm_token: Option<String>,
    /// The address for running the stored request of the gateway without sending it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redeem: Option<String>,
    /// The undo window of the call (AAP 14.1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<UndoDocument>,
}

/// The undo window of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UndoDocument {
    pub state: UndoState,
    /// Undoes the call: POST, with the access token of the session that sent it. Only while the window is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo_url: Option<String>,
    /// When the window closes, or closed.
    #[serde(with = "rfc3339")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub expires_at: UnixMillis,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum UndoState {
    /// It can be undone.
    Open,
    /// The window has closed; `execution` tells the outcome of the call.
    Closed,
    /// The service is being asked to undo it.
    Undoing,
    /// Undone: the call was never sent, or the service undid it.
    Undone,
    /// The service was to undo it, and did not.
    Remains,
    /// The service was asked to undo it, and its answer was lost.
    Unknown,
    /// It was never sent: access was revoked, the approval no longer held, or no node could send it in time.
    NotSent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum DecisionKind {
    Confirmation,
    Clarification,
    /// A scope beyond the consent receipt, for one task (AAP 12.3).
    ScopeExpansion,
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

/// How an answer was authenticated, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Assurance {
    /// A same-user socket: reads, and never answers by itself.
    Local,
    Token,
    Session,
    /// Proven again within five minutes.
    Fresh,
    Passkey,
}

impl Assurance {
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "token" => Some(Self::Token),
            "session" => Some(Self::Session),
            "fresh" => Some(Self::Fresh),
            "passkey" => Some(Self::Passkey),
            _ => None,
        }
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Token => "token",
            Self::Session => "session",
            Self::Fresh => "fresh",
            Self::Passkey => "passkey",
        }
    }
}

/// The default applied to an unanswered question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ExpiredAs {
    Accept,
    Reject,
    DefaultResponse,
    Unavailable,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum CancelledFor {
    /// Withdrawn by its raiser.
    Withdrawn,
    SessionOver,
    Revoked,
    /// Revoked by a person.
    TakenBack,
    /// Another decision allowed the same effect.
    Superseded,
    /// The database was restored from a backup, so it is unknown whether it was answered or claimed since.
    Restored,
    /// Undone before its undo window closed (AAP 14.1).
    Undone,
    /// Refused when its undo window closed: what it was approved under no longer holds.
    NotSent,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AllowanceDocument {
    pub state: AllowanceStatus,
    pub uses_left: i64,
    #[serde(with = "rfc3339")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub until: UnixMillis,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ExecutionDocument {
    pub execution_id: String,
    pub state: ClaimStatus,
    /// Report the outcome by then, or report that it is still running.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "rfc3339_option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub lease_until: Option<UnixMillis>,
    /// A later outcome contradicts a person's finding: check both.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub conflict: bool,
}

/// The state of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ClaimStatus {
    Claimed,
    Committed,
    Failed,
    Released,
    Unknown,
}

impl ClaimStatus {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Claimed => "claimed",
            Self::Committed => "committed",
            Self::Failed => "failed",
            Self::Released => "released",
            Self::Unknown => "unknown",
        }
    }
}

/// `POST /v1/decisions/{id}/claim`: repeats the call that the agent is about to run, so that an approval of one call
/// cannot be claimed for another.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ClaimRequest {
    /// The tool named in the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The exact arguments of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub arguments: Option<Map<String, Value>>,
    /// Instead of both: the action digest in hex, computed by the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// `POST /v1/decisions/{id}/outcome`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct OutcomeRequest {
    pub status: OutcomeStatus,
    /// The execution, if the approval covers more than one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_id: Option<String>,
    /// The error, in words for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum OutcomeStatus {
    /// Still running: renews the lease.
    Running,
    Committed,
    Failed,
}

/// `GET /v1/actions`: the actions that an agent may request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ActionsDocument {
    pub actions: Vec<ActionDocument>,
    /// Whether unlisted actions may be requested; they count as irreversible and of high risk.
    pub others: bool,
}

/// One action, by the project's policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ActionDocument {
    /// The value of `tool` in a confirmation request.
    pub name: String,
    pub risk_level: Risk,
    pub irreversible: bool,
    /// How long people have to answer, unless the request says otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<i64>,
    /// The result if nobody answers in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_decision: Option<YesNo>,
}

/// `POST /v1/decisions/{id}/withdraw`
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct WithdrawRequest {
    /// The reason, for the people who were asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[cfg(feature = "openapi")]
mod described {
    use utoipa::openapi::{Object, ObjectBuilder, Type};

    /// One type per kind of response.
    pub(super) fn response() -> Object {
        let about =
            "The answer to a clarification: a text, true or false, or a number, by the kind that was asked for.";
        ObjectBuilder::new()
            .schema_type(utoipa::openapi::schema::SchemaType::from_iter([Type::String, Type::Boolean, Type::Number]))
            .description(Some(about))
            .build()
    }
}
