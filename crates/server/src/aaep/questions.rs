//! `GET /aaep/v1/questions`: the person's pending questions, for a subscriber that has just started.

use super::listener::listener;
use crate::{
    App,
    http::{answer::RefusalResponse, at::AtProject, caller::Asker, request_id::RequestId},
};
use axum::{
    extract::State,
    response::{IntoResponse as _, Response},
};
use countersign_protocol::{aaep::questions::Questions, aap::error::ErrorEnvelope};

#[utoipa::path(
    get,
    path = "/aaep/v1/questions",
    tag = "subscribers",
    summary = "The pending questions that a person may see",
    description = "Oldest first, without reply tokens: subscribers receive those with the events.",
    responses((status = 200, description = "The pending questions", body = Questions), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("session" = []), ("bearer" = []))
)]
pub(crate) async fn get(
    State(app): State<App>,
    AtProject(at): AtProject,
    id: RequestId,
    asker: Asker,
) -> Result<Response, RefusalResponse> {
    match listener(&app, &at, &asker).await {
        Ok(listener) => {
            let questions = app.engine.events().questions_for(&at, &listener).await?;
            Ok(axum::Json(Questions { questions }).into_response())
        }
        Err(why) => Ok(why.response(&id)),
    }
}
