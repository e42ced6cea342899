//! A project's settings for plans, roles and learning.

use crate::{aaep::event::Risk, mplp::MplpId};
use serde::{Deserialize, Serialize};

/// Limits of standing approvals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct PlanPolicy {
    /// The risk from which on every call needs approval, even under an approved plan.
    pub ask_again_from: AskAgain,
    /// How long people have to answer about a plan.
    pub timeout_seconds: i64,
    /// The default running time of an approved plan.
    pub default_seconds: i64,
    /// The longest lifetime of any standing approval.
    pub max_seconds: i64,
    /// The most calls that the approval of one question may cover.
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
    /// Whether a planned call of this risk still needs approval.
    pub fn needs_approval(self, risk: Risk) -> bool {
        match self {
            Self::Low => true,
            Self::Medium => risk >= Risk::Medium,
            Self::High => risk >= Risk::High,
            Self::Never => false,
        }
    }
}

/// An MPLP role: a label, its capabilities and its members.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RoleEntry {
    /// By default derived from the project and the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role_id: Option<MplpId>,
    pub name: String,
    /// `confirm.approve` decides, `confirm.override` decides about locked Confirms, `plan.create` writes plans.
    #[serde(default)]
    pub capabilities: Vec<String>,
    /// `role:user`, `role:approver`, `role:admin`, `role:auditor`, `user:NAME`, `agents`, `operator:DOMAIN`,
    /// `key:PRINCIPAL`.
    #[serde(default)]
    pub members: Vec<String>,
}

/// Learning from decisions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct LearningPolicy {
    /// Whether samples include texts by people and agents. Only with the consent of those concerned.
    pub personal_data: bool,
}
