//! `POST /mplp/v1/confirms/{confirm}/decisions`: a person decides, or the requester withdraws (MPLP 4.3).

use super::{
    caller::Caller,
    denied::{Denied, not_counted},
    ids::ConfirmId,
    sent::Sent,
};
use crate::{App, http::request_id::RequestId};
use axum::extract::State;
use countersign_engine::{Decider, Refusal, Speaker};
use countersign_protocol::{
    aap::error::Envelope,
    mplp::{Confirm, DecisionRequest},
};

#[utoipa::path(
    post,
    path = "/mplp/v1/confirms/{confirm}/decisions",
    tag = "plans",
    summary = "Approve, reject or cancel",
    description = "For people, by a subscriber token of theirs. Under which role they decide is known from who they are; steps approves only some of a plan, bounds allows more than the one call that was shown. An agent may only cancel what it asked itself.",
    params(("confirm" = String, Path, description = "confirm_id of the Confirm")),
    request_body = DecisionRequest,
    responses((status = 201, description = "The Confirm with the decision in it", body = Confirm), (status = 409, description = "It is settled, locked or too late; where it is settled, decision says what it is now", body = Envelope), (status = "4XX", description = "Refused: the envelope says why and what to do", body = Envelope), (status = "5XX", description = "Trouble on our side", body = Envelope)),
    security(("bearer" = []))
)]
pub(crate) async fn post(
    State(app): State<App>,
    caller: Caller,
    ConfirmId(id): ConfirmId,
    request: RequestId,
    Sent(body): Sent<DecisionRequest>,
) -> Result<(http::StatusCode, axum::Json<Confirm>), Denied> {
    let decider = decider(&app, &caller)?;
    match app.engine.decide_confirm(&caller.at, &decider, &id, &body).await {
        Ok(confirm) => Ok((http::StatusCode::CREATED, axum::Json(confirm))),
        Err(why) => Err(not_counted(&app, &caller, &request, &id, why).await),
    }
}

fn decider(app: &App, caller: &Caller) -> Result<Decider, Refusal> {
    match &caller.speaker {
        Speaker::Agent(agent) => Ok(Decider::Agent(agent.clone())),
        Speaker::Person(_) | Speaker::Admin => caller.person(app).map(|by| Decider::Person(Box::new(by))),
    }
}
