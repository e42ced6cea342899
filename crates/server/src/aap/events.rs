//! `POST /agent/events` (AAP 8.3)

use crate::{
    App,
    http::{address::SourceNetwork, answer::RefusalResponse, at::AtProject, body::Json, caller::Asker},
};
use axum::extract::State;
use countersign_protocol::aap::{
    error::ErrorEnvelope,
    events::{LifecycleEventRequest, LifecycleEventResponse},
};

#[utoipa::path(
    post,
    path = "/agent/events",
    tag = "people",
    summary = "Report a lifecycle event, which ends the delegations with a policy for it",
    request_body = LifecycleEventRequest,
    responses((status = 200, description = "Applied: no node honours the listed delegations any more", body = LifecycleEventResponse), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("bearer" = []))
)]
pub(crate) async fn post(
    State(app): State<App>,
    AtProject(at): AtProject,
    SourceNetwork(source): SourceNetwork,
    asker: Asker,
    Json(body): Json<LifecycleEventRequest>,
) -> Result<axum::Json<LifecycleEventResponse>, RefusalResponse> {
    let actor = asker.actor(&app, &at, None, &source).await?;
    Ok(axum::Json(app.engine.agents().apply_event(&at, &actor, &body).await?))
}
