//! `POST /mplp/v1/confirms/{confirm}/decisions`: a person decides, or the requester withdraws (MPLP 4.3).

use super::{
    caller::MplpCaller,
    denied::{Denied, not_counted},
    ids::ConfirmId,
    requests::MplpBody,
};
use crate::{App, http::request_id::RequestId};
use axum::extract::State;
use countersign_engine::{Decider, Refusal, Speaker};
use countersign_protocol::{
    aap::error::ErrorEnvelope,
    mplp::{Confirm, DecisionRequest},
};

#[utoipa::path(
    post,
    path = "/mplp/v1/confirms/{confirm}/decisions",
    tag = "plans",
    summary = "Approve, reject or cancel",
    description = "For people, by a subscriber token of theirs. Their role follows from their identity; steps approves only some steps of a plan, bounds allows more calls than the one shown. An agent may only cancel its own requests.",
    params(("confirm" = String, Path, description = "confirm_id of the Confirm")),
    request_body = DecisionRequest,
    responses((status = 201, description = "The Confirm with its decision", body = Confirm), (status = 409, description = "It is settled, locked or too late; if settled, decision has its current state", body = ErrorEnvelope), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("bearer" = []))
)]
pub(crate) async fn post(
    State(app): State<App>,
    caller: MplpCaller,
    ConfirmId(id): ConfirmId,
    request: RequestId,
    MplpBody(body): MplpBody<DecisionRequest>,
) -> Result<(http::StatusCode, axum::Json<Confirm>), Denied> {
    let decider = decider(&app, &caller)?;
    match app.engine.plans().decide_confirm(&caller.at, &decider, &id, &body).await {
        Ok(confirm) => Ok((http::StatusCode::CREATED, axum::Json(confirm))),
        Err(why) => Err(not_counted(&app, &caller, &request, &id, why).await),
    }
}

fn decider(app: &App, caller: &MplpCaller) -> Result<Decider, Refusal> {
    match &caller.speaker {
        Speaker::Agent(agent) => Ok(Decider::Agent(agent.clone())),
        Speaker::Person(_) | Speaker::Admin => caller.person(app).map(|by| Decider::Person(Box::new(by))),
    }
}
