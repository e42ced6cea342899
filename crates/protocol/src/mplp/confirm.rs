//! Confirms: approval requests to a person, and their results (MPLP 2, 3).

use super::{BadDocument, BaseEvent, Governance, Meta, MplpId, TraceBase, members::moment, read};
use crate::time::UnixMillis;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Confirm {
    pub meta: Meta,
    pub confirm_id: MplpId,
    pub target_type: TargetType,
    pub target_id: MplpId,
    pub status: ConfirmStatus,
    /// A role's name or its id, as given (M-06).
    pub requested_by_role: String,
    #[serde(with = "moment")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub requested_at: UnixMillis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<ConfirmDecision>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceBase>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<BaseEvent>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub governance: Option<Governance>,
}

impl Confirm {
    pub fn read(bytes: &[u8]) -> Result<Self, BadDocument> {
        read::document(bytes)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ConfirmDecision {
    pub decision_id: MplpId,
    pub status: DecisionStatus,
    pub decided_by_role: String,
    #[serde(with = "moment")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub decided_at: UnixMillis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The type of the approved object. A single step is `other`, with the step's id (M-17).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum TargetType {
    Context,
    Plan,
    Trace,
    Extension,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ConfirmStatus {
    Pending,
    Approved,
    Rejected,
    Cancelled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum DecisionStatus {
    Approved,
    Rejected,
    Cancelled,
}

impl From<DecisionStatus> for ConfirmStatus {
    /// A Confirm takes the status of its decision (MPLP 4.3).
    fn from(decided: DecisionStatus) -> Self {
        match decided {
            DecisionStatus::Approved => Self::Approved,
            DecisionStatus::Rejected => Self::Rejected,
            DecisionStatus::Cancelled => Self::Cancelled,
        }
    }
}
