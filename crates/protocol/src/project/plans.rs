//! What a project says about plans, roles and what may be learned from decisions.

use crate::{aaep::event::Risk, mplp::MplpId};
use serde::{Deserialize, Serialize};

/// Bounds on yeses that are for more than one call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct PlanPolicy {
    /// The risk from which on a person is asked again for every call, although the plan was approved.
    pub ask_again_from: AskAgain,
    /// How long people have to answer about a plan.
    pub timeout_seconds: i64,
    /// How long an approved plan may run, where its agent says nothing else.
    pub default_seconds: i64,
    /// The longest time that any yes for more than one call lasts.
    pub max_seconds: i64,
    /// The most calls that a person's yes to one question may cover.
    pub max_uses: i64,
}

impl Default for PlanPolicy {
    fn default() -> Self {
        Self {
            ask_again_from: AskAgain::High,
            timeout_seconds: 3600,
            default_seconds: 3600,
            max_seconds: 86_400,
            max_uses: 100,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AskAgain {
    Low,
    Medium,
    High,
    Never,
}

impl AskAgain {
    /// Whether a planned call of this risk is asked about all the same.
    pub fn asks(self, risk: Risk) -> bool {
        match self {
            Self::Low => true,
            Self::Medium => risk >= Risk::Medium,
            Self::High => risk >= Risk::High,
            Self::Never => false,
        }
    }
}

/// A role as MPLP knows it: a label, what it may do, and who has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RoleEntry {
    /// Without one it is derived from the project and the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role_id: Option<MplpId>,
    pub name: String,
    /// `confirm.approve` decides, `confirm.override` decides about what is locked, `plan.create` writes plans.
    #[serde(default)]
    pub capabilities: Vec<String>,
    /// `role:user`, `role:approver`, `role:admin`, `role:auditor`, `user:NAME`, `agents`, `operator:DOMAIN`, `key:PRINCIPAL`.
    #[serde(default)]
    pub members: Vec<String>,
}

/// What may be learned from decisions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct LearningPolicy {
    /// Whether samples carry what people and agents wrote. Only where those concerned have agreed to it.
    pub personal_data: bool,
}
