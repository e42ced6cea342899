//! `POST /agent/revoke` (AAP 17.3)

use crate::{
    App,
    http::{address::SourceNetwork, answer::RefusalResponse, at::AtProject, body::Json, caller::Asker},
};
use axum::extract::State;
use countersign_protocol::aap::error::ErrorEnvelope;
use countersign_protocol::aap::revoke::{RevokeRequest, RevokeResponse};

#[utoipa::path(
    post,
    path = "/agent/revoke",
    tag = "people",
    summary = "Revoke a delegation",
    params(("Aap-Version" = Option<String>, Header, description = "The protocol version; required with an agent's or operator's credentials")),
    request_body = RevokeRequest,
    responses((status = 200, description = "The delegation and its access tokens are no longer valid", body = RevokeResponse), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("session" = []), ("bearer" = []))
)]
pub(crate) async fn post(
    State(app): State<App>,
    AtProject(at): AtProject,
    SourceNetwork(source): SourceNetwork,
    asker: Asker,
    Json(body): Json<RevokeRequest>,
) -> Result<axum::Json<RevokeResponse>, RefusalResponse> {
    let actor = asker.actor(&app, &at, body.operator_jwt.as_deref(), &source).await?;
    Ok(axum::Json(app.engine.agents().revoke(&at, &actor, &body).await?))
}
