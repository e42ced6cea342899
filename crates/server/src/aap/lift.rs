//! Ends the suspension of a delegation (C-86).

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
use countersign_protocol::aap::lift::{LiftRequest, LiftResponse};

#[utoipa::path(
    post, path = "/agent/lift", tag = "people", security(("session" = []), ("bearer" = [])),
    request_body = LiftRequest,
    summary = "End the suspension of a delegation: as its person, an admin, or its operator after use from two networks",
    params(("Aap-Version" = Option<String>, Header, description = "The protocol version; required with an operator's credentials")),
    responses((status = 200, description = "The delegation is in force", body = LiftResponse), ErrorResponses),
)]
pub(crate) async fn post(
    State(app): State<App>,
    AtProject(at): AtProject,
    SourceNetwork(source): SourceNetwork,
    asker: Asker,
    Json(body): Json<LiftRequest>,
) -> JsonResult<LiftResponse> {
    let actor = asker.actor(&app, &at, body.operator_jwt.as_deref(), &source).await?;
    Ok(axum::Json(app.engine.agents().lift(&at, &actor, &body).await?))
}
