//! `GET /v1/actions`: the actions an agent may ask for.

use super::Caller;
use crate::{App, http::answer::Refused};
use axum::extract::State;
use countersign_protocol::{aap::error::Envelope, decisions::ActionsDocument};

#[utoipa::path(
    get,
    path = "/v1/actions",
    tag = "decisions",
    summary = "The actions that the agent may request",
    responses((status = 200, description = "Every action, with the project's policy for it", body = ActionsDocument), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = Envelope), (status = "5XX", description = "Server error", body = Envelope)),
    security(("bearer" = []))
)]
pub(crate) async fn get(
    State(app): State<App>,
    Caller { at, agent, .. }: Caller,
) -> Result<axum::Json<ActionsDocument>, Refused> {
    Ok(axum::Json(app.engine.actions(&at, &agent)))
}
