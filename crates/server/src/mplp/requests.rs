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
use http::{HeaderMap, StatusCode, header};

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
        let is_json = is_json(request.headers());
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

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json")
}

impl MplpDocument for PlanSubmission {
    fn read(bytes: &[u8]) -> Result<Self, BadDocument> {
        Self::read(bytes)
    }

    fn most(_: usize) -> usize {
        MAX_PLAN_BYTES
    }
}

impl MplpDocument for ConfirmSubmission {
    fn read(bytes: &[u8]) -> Result<Self, BadDocument> {
        Self::read(bytes)
    }
}

impl MplpDocument for Confirm {
    fn read(bytes: &[u8]) -> Result<Self, BadDocument> {
        Self::read(bytes)
    }
}

impl MplpDocument for DecisionRequest {
    fn read(bytes: &[u8]) -> Result<Self, BadDocument> {
        Self::read(bytes)
    }
}

impl MplpDocument for StepReport {
    fn read(bytes: &[u8]) -> Result<Self, BadDocument> {
        Self::read(bytes)
    }
}

impl MplpDocument for Governance {
    fn read(bytes: &[u8]) -> Result<Self, BadDocument> {
        read::document(bytes)
    }
}

impl MplpDocument for ProposeRequest {
    const OPTIONAL: bool = true;

    fn read(bytes: &[u8]) -> Result<Self, BadDocument> {
        read::document(bytes)
    }
}

impl MplpDocument for ReasonGiven {
    const OPTIONAL: bool = true;

    fn read(bytes: &[u8]) -> Result<Self, BadDocument> {
        read::document(bytes)
    }
}

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
