//! The twelve core events (AAEP 4). An event is an envelope and the payload of its type, side by side in one object.

use super::envelope::{EventEnvelope, Urgency};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    #[serde(flatten)]
    pub envelope: EventEnvelope,
    #[serde(flatten)]
    pub payload: Payload,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum Payload {
    #[serde(rename = "aaep:agent.session.started")]
    SessionStarted(SessionStarted),
    #[serde(rename = "aaep:agent.session.completed")]
    SessionCompleted(SessionCompleted),
    #[serde(rename = "aaep:agent.session.errored")]
    SessionErrored(SessionErrored),
    #[serde(rename = "aaep:agent.session.cancelled")]
    SessionCancelled(SessionCancelled),
    #[serde(rename = "aaep:agent.state.changed")]
    StateChanged(StateChanged),
    #[serde(rename = "aaep:agent.progress.updated")]
    ProgressUpdated(ProgressUpdated),
    #[serde(rename = "aaep:agent.tool.invoked")]
    ToolInvoked(ToolInvoked),
    #[serde(rename = "aaep:agent.tool.completed")]
    ToolCompleted(ToolCompleted),
    #[serde(rename = "aaep:agent.output.streaming")]
    OutputStreaming(OutputStreaming),
    #[serde(rename = "aaep:agent.awaiting.confirmation")]
    AwaitingConfirmation(AwaitingConfirmation),
    #[serde(rename = "aaep:agent.awaiting.clarification")]
    AwaitingClarification(AwaitingClarification),
    #[serde(rename = "aaep:agent.handoff.requested")]
    HandoffRequested(HandoffRequested),
}

/// Up to three lengths of the same message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summaries {
    #[serde(rename = "summary_terse", default, skip_serializing_if = "Option::is_none")]
    pub terse: Option<String>,
    #[serde(rename = "summary_normal", default, skip_serializing_if = "Option::is_none")]
    pub normal: Option<String>,
    #[serde(rename = "summary_detailed", default, skip_serializing_if = "Option::is_none")]
    pub detailed: Option<String>,
}

impl Summaries {
    pub fn normal(text: impl Into<String>) -> Self {
        Self { normal: Some(text.into()), ..Self::default() }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionStarted {
    #[serde(flatten)]
    pub summaries: Summaries,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_duration_ms: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools_available: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionCompleted {
    #[serde(flatten)]
    pub summaries: Summaries,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_invocations_count: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_summary: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_uri: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionErrored {
    #[serde(flatten)]
    pub summaries: Summaries,
    pub error_category: ErrorCategory,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_uri: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recoverable: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remediation_hint: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCategory {
    Transient,
    Permanent,
    RequiresUser,
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionCancelled {
    #[serde(flatten)]
    pub summaries: Summaries,
    pub cancelled_by: CancelledBy,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancellation_reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial_result: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CancelledBy {
    User,
    Producer,
    Timeout,
    System,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StateChanged {
    pub from_state: String,
    pub to_state: String,
    #[serde(flatten)]
    pub summaries: Summaries,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_duration_ms: Option<i64>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProgressUpdated {
    pub progress: Progress,
    #[serde(flatten)]
    pub summaries: Summaries,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eta_ms: Option<i64>,
}

/// A closed object with at least one member.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<serde_json::Number>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_steps: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolInvoked {
    pub tool: String,
    #[serde(flatten)]
    pub summaries: Summaries,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args_summary: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_duration_ms: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk_level: Option<Risk>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub irreversible: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCompleted {
    pub tool: String,
    pub status: ToolStatus,
    #[serde(flatten)]
    pub summaries: Summaries,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    Success,
    Error,
    Timeout,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OutputStreaming {
    pub chunk: String,
    /// In characters, meaning code points (C28).
    pub position: i64,
    pub complete: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coalesce_hint: Option<Boundary>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
}

/// The boundaries at which streamed output may be cut without harm to a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Boundary {
    None,
    Word,
    Sentence,
    Paragraph,
    Completion,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    Low,
    Medium,
    High,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Reversibility {
    Reversible,
    ReversibleWithEffort,
    Irreversible,
}

/// Accept or reject: a person's reply, and the default of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum YesNo {
    Accept,
    Reject,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AwaitingConfirmation {
    pub action: String,
    pub consequence: String,
    pub reply_token: String,
    pub timeout_seconds: i64,
    pub default_decision: YesNo,
    #[serde(flatten)]
    pub summaries: Summaries,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk_level: Option<Risk>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub irreversible: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reversibility: Option<Reversibility>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_replies: Option<Vec<YesNo>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra_context: Option<Map<String, Value>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AwaitingClarification {
    pub question: String,
    pub reply_token: String,
    pub timeout_seconds: i64,
    #[serde(flatten)]
    pub summaries: Summaries,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted_response_kinds: Option<Vec<ResponseKind>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choices: Option<Vec<Choice>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_response: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ResponseKind {
    Freetext,
    YesNo,
    MultipleChoice,
    Numeric,
}

/// A closed object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Choice {
    pub value: String,
    pub label: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HandoffRequested {
    pub reason: String,
    pub target_kind: TargetKind,
    #[serde(flatten)]
    pub summaries: Summaries,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_uri: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packaged_context: Option<Map<String, Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub urgency_for_handoff: Option<Risk>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    Human,
    SpecialistAgent,
    EscalationQueue,
}

impl Payload {
    /// The type in compact form, the only form we emit (C7).
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::SessionStarted(_) => "aaep:agent.session.started",
            Self::SessionCompleted(_) => "aaep:agent.session.completed",
            Self::SessionErrored(_) => "aaep:agent.session.errored",
            Self::SessionCancelled(_) => "aaep:agent.session.cancelled",
            Self::StateChanged(_) => "aaep:agent.state.changed",
            Self::ProgressUpdated(_) => "aaep:agent.progress.updated",
            Self::ToolInvoked(_) => "aaep:agent.tool.invoked",
            Self::ToolCompleted(_) => "aaep:agent.tool.completed",
            Self::OutputStreaming(_) => "aaep:agent.output.streaming",
            Self::AwaitingConfirmation(_) => "aaep:agent.awaiting.confirmation",
            Self::AwaitingClarification(_) => "aaep:agent.awaiting.clarification",
            Self::HandoffRequested(_) => "aaep:agent.handoff.requested",
        }
    }

    /// The default urgency of the type; critical types cannot have another one.
    pub const fn urgency(&self) -> Urgency {
        match self {
            Self::SessionErrored(_)
            | Self::AwaitingConfirmation(_)
            | Self::AwaitingClarification(_)
            | Self::HandoffRequested(_) => Urgency::Critical,
            Self::ProgressUpdated(_) => Urgency::Background,
            _ => Urgency::Normal,
        }
    }

    /// The summaries of the event. Streamed output has none.
    pub const fn summaries_mut(&mut self) -> Option<&mut Summaries> {
        Some(match self {
            Self::SessionStarted(payload) => &mut payload.summaries,
            Self::SessionCompleted(payload) => &mut payload.summaries,
            Self::SessionErrored(payload) => &mut payload.summaries,
            Self::SessionCancelled(payload) => &mut payload.summaries,
            Self::StateChanged(payload) => &mut payload.summaries,
            Self::ProgressUpdated(payload) => &mut payload.summaries,
            Self::ToolInvoked(payload) => &mut payload.summaries,
            Self::ToolCompleted(payload) => &mut payload.summaries,
            Self::AwaitingConfirmation(payload) => &mut payload.summaries,
            Self::AwaitingClarification(payload) => &mut payload.summaries,
            Self::HandoffRequested(payload) => &mut payload.summaries,
            Self::OutputStreaming(_) => return None,
        })
    }

    /// The token that ties a reply to this question, if it is one.
    pub fn reply_token(&self) -> Option<&str> {
        match self {
            Self::AwaitingConfirmation(asked) => Some(&asked.reply_token),
            Self::AwaitingClarification(asked) => Some(&asked.reply_token),
            _ => None,
        }
    }

    pub fn set_reply_token(&mut self, token: String) {
        match self {
            Self::AwaitingConfirmation(asked) => asked.reply_token = token,
            Self::AwaitingClarification(asked) => asked.reply_token = token,
            _ => {}
        }
    }

    /// Whether it ends the session.
    pub const fn is_terminal(&self) -> bool {
        matches!(self, Self::SessionCompleted(_) | Self::SessionErrored(_) | Self::SessionCancelled(_))
    }
}
