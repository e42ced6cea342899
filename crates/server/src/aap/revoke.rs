//! Ends delegations and AAP sessions.

use crate::{
    App,
    http::{
        address::SourceNetwork,
        answer::{ErrorResponses, JsonResult},
        at::AtProject,
        body::Json,
        caller::Asker,
    },
};
use axum::extract::State;
use countersign_protocol::aap::{
    events::{LifecycleEventRequest, LifecycleEventResponse},
    revoke::{CancelRequest, CancelResponse, RevokeRequest, RevokeResponse, TaskCompleteRequest, TaskCompleteResponse},
};

/// AAP 17.3.
#[utoipa::path(
    post, path = "/agent/revoke", tag = "people", security(("session" = []), ("bearer" = [])),
    request_body = RevokeRequest,
    summary = "Revoke a delegation",
    params(("Aap-Version" = Option<String>, Header, description = "The protocol version; required with an agent's or operator's credentials")),
    responses((status = 200, description = "The delegation and its access tokens are no longer valid", body = RevokeResponse), ErrorResponses),
)]
pub(crate) async fn revoke(
    State(app): State<App>,
    AtProject(at): AtProject,
    SourceNetwork(source): SourceNetwork,
    asker: Asker,
    Json(body): Json<RevokeRequest>,
) -> JsonResult<RevokeResponse> {
    let actor = asker.actor(&app, &at, body.operator_jwt.as_deref(), &source).await?;
    Ok(axum::Json(app.engine.agents().revoke(&at, &actor, &body).await?))
}

/// AAP 17.7, C-41.
#[utoipa::path(
    post, path = "/agent/cancel", tag = "agents", security(("bearer" = [])), request_body = CancelRequest,
    summary = "End an AAP session; a request of the operator also revokes the receipt",
    params(("Aap-Version" = Option<String>, Header, description = "The protocol version; required with an agent's or operator's credentials")),
    responses((status = 200, description = "The session has ended", body = CancelResponse), ErrorResponses),
)]
pub(crate) async fn cancel(
    State(app): State<App>,
    AtProject(at): AtProject,
    SourceNetwork(source): SourceNetwork,
    asker: Asker,
    Json(body): Json<CancelRequest>,
) -> JsonResult<CancelResponse> {
    let actor = asker.actor(&app, &at, body.operator_jwt.as_deref(), &source).await?;
    Ok(axum::Json(app.engine.agents().cancel(&at, &actor, &body).await?))
}

/// AAP 17.6.
#[utoipa::path(
    post, path = "/agent/task-complete", tag = "agents", security(("bearer" = [])), request_body = TaskCompleteRequest,
    summary = "Report a task as complete: its AAP session ends, and the delegation if its policy says so",
    params(("Aap-Version" = String, Header, description = "The protocol version")),
    responses((status = 200, description = "The session has ended", body = TaskCompleteResponse), ErrorResponses),
)]
pub(crate) async fn task_complete(
    State(app): State<App>,
    AtProject(at): AtProject,
    asker: Asker,
    Json(body): Json<TaskCompleteRequest>,
) -> JsonResult<TaskCompleteResponse> {
    let actor = asker.completing_agent(&app, &at).await?;
    Ok(axum::Json(app.engine.agents().complete_task(&at, &actor, &body).await?))
}

/// AAP 8.3.
#[utoipa::path(
    post, path = "/agent/events", tag = "people", security(("session" = []), ("bearer" = [])),
    request_body = LifecycleEventRequest,
    summary = "Report a lifecycle event, which ends the delegations with a policy for it",
    params(("Aap-Version" = Option<String>, Header, description = "The protocol version; required with a key")),
    responses((status = 200, description = "Applied: no node honours the listed delegations any more", body = LifecycleEventResponse), ErrorResponses),
)]
pub(crate) async fn event(
    State(app): State<App>,
    AtProject(at): AtProject,
    SourceNetwork(source): SourceNetwork,
    asker: Asker,
    Json(body): Json<LifecycleEventRequest>,
) -> JsonResult<LifecycleEventResponse> {
    let actor = asker.actor(&app, &at, None, &source).await?;
    Ok(axum::Json(app.engine.agents().apply_event(&at, &actor, &body).await?))
}
