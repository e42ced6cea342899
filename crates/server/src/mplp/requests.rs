//! Request documents: one JSON object of limited size, parsed strictly; an error names the invalid member.

use super::denied::Denied;
use crate::{App, http::body};
use axum::{
    extract::{FromRequest, Request},
    response::IntoResponse as _,
};
use bytes::Bytes;
use countersign_engine::Refusal;
use countersign_protocol::mplp::{
    BadDocument, Confirm, ConfirmSubmission, DecisionRequest, Governance, Plan, PlanSubmission, ProposeRequest,
    ReasonGiven, StepReport, read, submission::MAX_PLAN_BYTES,
};
use http::StatusCode;

pub(crate) struct MplpBody<T>(pub(crate) T);

pub(crate) trait MplpDocument: Sized {
    /// Whether the body may be empty.
    const OPTIONAL: bool = false;

    fn read(bytes: &[u8]) -> Result<Self, BadDocument>;

    /// The maximum size in bytes, where the node's limit is `usual`.
    fn most(usual: usize) -> usize {
        usual
    }
}

impl<T: MplpDocument> FromRequest<App> for MplpBody<T> {
    type Rejection = Denied;

    async fn from_request(request: Request, app: &App) -> Result<Self, Denied> {
        let is_json = body::is_json(request.headers());
        let another_kind = || Denied::from(StatusCode::UNSUPPORTED_MEDIA_TYPE.into_response());
        if !is_json && !T::OPTIONAL {
            return Err(another_kind());
        }
        let bytes = body::read(request, T::most(app.limits.max_body_bytes)).await?;
        if !is_json && !bytes.is_empty() {
            return Err(another_kind());
        }
        Ok(Self(parsed(&bytes)?))
    }
}

fn parsed<T: MplpDocument>(bytes: &Bytes) -> Result<T, Refusal> {
    let nothing = T::OPTIONAL && bytes.is_empty();
    let bytes = if nothing { b"{}".as_slice() } else { bytes };
    T::read(bytes).map_err(|why| Refusal::invalid(why.to_string()))
}

/// Implements [`MplpDocument`] by the function that reads the document, and further members.
macro_rules! mplp_document {
    ($document:ty, $read:path $(, $member:item)?) => {
        impl $crate::mplp::requests::MplpDocument for $document {
            $($member)?

            fn read(bytes: &[u8]) -> Result<Self, countersign_protocol::mplp::BadDocument> {
                $read(bytes)
            }
        }
    };
}
pub(crate) use mplp_document;

mplp_document!(
    PlanSubmission,
    PlanSubmission::read,
    fn most(_: usize) -> usize {
        MAX_PLAN_BYTES
    }
);
mplp_document!(ConfirmSubmission, ConfirmSubmission::read);
mplp_document!(Confirm, Confirm::read);
mplp_document!(DecisionRequest, DecisionRequest::read);
mplp_document!(StepReport, StepReport::read);
mplp_document!(Governance, read::document);
mplp_document!(ProposeRequest, read::document, const OPTIONAL: bool = true;);
mplp_document!(ReasonGiven, read::document, const OPTIONAL: bool = true;);

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
