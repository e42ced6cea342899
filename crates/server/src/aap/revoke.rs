//! Ends a delegation or an AAP session.

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
use countersign_protocol::aap::revoke::{CancelRequest, CancelResponse, RevokeRequest, RevokeResponse};

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
