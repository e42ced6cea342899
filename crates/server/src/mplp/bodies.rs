//! Request bodies of plans and Confirms, for the OpenAPI description: the document alone, or in its envelope.

use countersign_protocol::mplp::{Confirm, ConfirmSubmission, Plan, PlanSubmission};

#[derive(serde::Serialize, utoipa::ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only described: `PlanSubmission::read` reads both")]
pub(crate) enum PlanBody {
    Enveloped(Box<PlanSubmission>),
    Bare(Box<Plan>),
}

#[derive(serde::Serialize, utoipa::ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only described: `ConfirmSubmission::read` reads both")]
pub(crate) enum ConfirmBody {
    Enveloped(Box<ConfirmSubmission>),
    Bare(Box<Confirm>),
}
