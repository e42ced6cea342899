//! `POST /agent/cancel` (AAP 17.7, C-41)

use crate::{
    App,
    http::{address::SourceNetwork, answer::RefusalResponse, at::AtProject, body::Json, caller::Asker},
};
use axum::extract::State;
use countersign_protocol::aap::error::ErrorEnvelope;
use countersign_protocol::aap::revoke::{CancelRequest, CancelResponse};

#[utoipa::path(
    post,
    path = "/agent/cancel",
    tag = "agents",
    summary = "End an AAP session; a request of the operator also revokes the receipt",
    params(("Aap-Version" = Option<String>, Header, description = "The protocol version; required with an agent's or operator's credentials")),
    request_body = CancelRequest,
    responses((status = 200, description = "The session has ended", body = CancelResponse), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("bearer" = []))
)]
pub(crate) async fn post(
    State(app): State<App>,
    AtProject(at): AtProject,
    SourceNetwork(source): SourceNetwork,
    asker: Asker,
    Json(body): Json<CancelRequest>,
) -> Result<axum::Json<CancelResponse>, RefusalResponse> {
    let actor = asker.actor(&app, &at, body.operator_jwt.as_deref(), &source).await?;
    Ok(axum::Json(app.engine.agents().cancel(&at, &actor, &body).await?))
}
