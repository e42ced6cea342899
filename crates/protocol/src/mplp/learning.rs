//! Learning samples: a person's decisions as feedback for planners (MPLP 5).

use super::{DecisionStatus, MplpId, PlanStep, TargetType, members::moment};
use crate::time::UnixMillis;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LearningSample {
    pub sample_id: MplpId,
    #[serde(with = "moment")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: UnixMillis,
    #[serde(flatten)]
    pub sample: Sample,
    pub meta: SampleMeta,
    /// Absent for a cancellation, which is no feedback (M-14).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<Feedback>,
}

/// The two families that a decision belongs to (M-11).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "sample_family", rename_all = "snake_case")]
pub enum Sample {
    IntentResolution { input: IntentInput, output: IntentOutput },
    ConfirmDecision { input: ConfirmInput, output: ConfirmOutput },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct IntentInput {
    /// The plan's id.
    pub intent_id: String,
    /// The plan's objective.
    pub raw_request_summary: String,
    pub intent_text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub context: Option<Map<String, Value>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct IntentOutput {
    pub final_intent_summary: String,
    pub plan_id: MplpId,
    pub plan_step_count: u64,
    pub plan_structure: Vec<PlanStep>,
    pub resolution_quality_label: ResolutionQuality,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ConfirmInput {
    pub confirm_id: MplpId,
    pub target_type: TargetType,
    pub target_id: MplpId,
    pub risk_label: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ConfirmOutput {
    pub decision: Judgement,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    pub decided_by_role: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SampleMeta {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_flow_id: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub source_event_ids: Vec<MplpId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<MplpId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub human_feedback_label: Option<FeedbackLabel>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clarification_rounds: Option<u64>,
}

/// The person's judgement. The published text has this block, and its schema allows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Feedback {
    /// `user`
    pub source: String,
    /// `approval` or `rejection`
    #[serde(rename = "type")]
    pub kind: String,
    /// `good` or `poor`: the text's words, where the schema's own label says `bad` (M-12).
    pub quality_label: String,
    /// The reason of this decision (M-13).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<String>,
}

impl Feedback {
    /// None for a cancellation.
    pub fn of(decided: DecisionStatus, details: Option<&str>) -> Option<Self> {
        let (kind, quality) = match decided {
            DecisionStatus::Approved => ("approval", "good"),
            DecisionStatus::Rejected => ("rejection", "poor"),
            DecisionStatus::Cancelled => return None,
        };
        let details = details.map(str::to_owned);
        Some(Self { source: "user".into(), kind: kind.into(), quality_label: quality.into(), details })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    Approve,
    Reject,
    /// Decided in spite of a lock (M-27).
    Override,
    /// Cancelled; no judgement at all (M-14).
    Cancel,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum FeedbackLabel {
    Approved,
    Rejected,
    NotReviewed,
}

impl From<DecisionStatus> for FeedbackLabel {
    fn from(decided: DecisionStatus) -> Self {
        match decided {
            DecisionStatus::Approved => Self::Approved,
            DecisionStatus::Rejected => Self::Rejected,
            DecisionStatus::Cancelled => Self::NotReviewed,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ResolutionQuality {
    Good,
    Acceptable,
    Bad,
    Unknown,
}

impl From<DecisionStatus> for ResolutionQuality {
    fn from(decided: DecisionStatus) -> Self {
        match decided {
            DecisionStatus::Approved => Self::Good,
            DecisionStatus::Rejected => Self::Bad,
            DecisionStatus::Cancelled => Self::Unknown,
        }
    }
}
