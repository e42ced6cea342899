//! `POST /mplp/v1/plans/{plan}/propose`: asks people to approve the plan (MPLP 4.2).

use super::{caller::MplpCaller, denied::Denied, ids::PlanId, requests::MplpBody, responses::created};
use crate::App;
use axum::{
    extract::State,
    response::{AppendHeaders, IntoResponse as _, Response},
};
use countersign_engine::{Proposal, RaisedDecision, mplp_views::confirm};
use countersign_protocol::{
    aap::error::ErrorEnvelope,
    mplp::{Confirm, ProposeRequest},
};
use http::HeaderName;

/// The decision behind a Confirm, for clients that poll `/v1/decisions`.
const DECISION: HeaderName = HeaderName::from_static("countersign-decision");
const CONFIRM: HeaderName = HeaderName::from_static("countersign-confirm");

#[utoipa::path(
    post,
    path = "/mplp/v1/plans/{plan}/propose",
    tag = "plans",
    summary = "Propose a plan for approval",
    params(("plan" = String, Path, description = "plan_id of the plan")),
    request_body = Option<ProposeRequest>,
    responses((status = 201, description = "The approval is pending; Location is the Confirm, Countersign-Decision its decision", body = Confirm), (status = 200, description = "The approval is already pending", body = Confirm), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("bearer" = []))
)]
pub(crate) async fn post(
    State(app): State<App>,
    caller: MplpCaller,
    PlanId(id): PlanId,
    MplpBody(asked): MplpBody<ProposeRequest>,
) -> Result<Response, Denied> {
    let ask = Proposal {
        requested_by_role: asked.requested_by_role,
        reason: asked.reason,
        timeout_s: asked.timeout_seconds,
        ..Proposal::default()
    };
    let raised = app.engine.plans().propose_plan(&caller.at, caller.agent()?, &id, &ask).await?;
    Ok(confirmed(&caller, &raised))
}

/// 201 with the `Location` of its Confirm for a new question; 200 for one that was already pending.
pub(super) fn confirmed(caller: &MplpCaller, raised: &RaisedDecision) -> Response {
    let document = confirm::document(&raised.decision, &caller.at.project.document);
    let place = caller.place(&format!("confirms/{}", document.confirm_id));
    (names(raised), created(axum::Json(document), raised.fresh, &place)).into_response()
}

/// The ids of the question, as headers.
pub(super) fn names(raised: &RaisedDecision) -> AppendHeaders<[(HeaderName, String); 2]> {
    let id = confirm::confirm_id(&raised.decision).to_string();
    AppendHeaders([(DECISION, raised.decision.id.clone()), (CONFIRM, id)])
}
