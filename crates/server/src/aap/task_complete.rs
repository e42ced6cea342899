//! `POST /agent/task-complete` (AAP 17.6)

use crate::{
    App,
    http::{answer::RefusalResponse, at::AtProject, body::Json, caller::Asker},
};
use axum::extract::State;
use countersign_protocol::aap::error::ErrorEnvelope;
use countersign_protocol::aap::revoke::{TaskCompleteRequest, TaskCompleteResponse};

#[utoipa::path(
    post,
    path = "/agent/task-complete",
    tag = "agents",
    summary = "Report a task as complete: its AAP session ends, and the delegation if its policy says so",
    params(("Aap-Version" = String, Header, description = "The protocol version")),
    request_body = TaskCompleteRequest,
    responses((status = 200, description = "The session has ended", body = TaskCompleteResponse), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("bearer" = []))
)]
pub(crate) async fn post(
    State(app): State<App>,
    AtProject(at): AtProject,
    asker: Asker,
    Json(body): Json<TaskCompleteRequest>,
) -> Result<axum::Json<TaskCompleteResponse>, RefusalResponse> {
    let actor = asker.completing_agent(&app, &at).await?;
    Ok(axum::Json(app.engine.agents().complete_task(&at, &actor, &body).await?))
}
