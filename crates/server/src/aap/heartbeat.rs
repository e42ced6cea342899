//! `POST /agent/heartbeat` (AAP 12.2)

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
use countersign_protocol::aap::heartbeat::{HeartbeatRequest, HeartbeatResponse};

/// AAP 12.2.
#[utoipa::path(
    post, path = "/agent/heartbeat", tag = "agents", security(("bearer" = [])), request_body = HeartbeatRequest,
    summary = "Report that a long task still runs; a session that is over refuses it, and its agent stops",
    params(("Aap-Version" = String, Header, description = "The protocol version")),
    responses((status = 200, description = "Received; the next one is expected before `next_before`", body = HeartbeatResponse), ErrorResponses),
)]
pub(crate) async fn post(
    State(app): State<App>,
    AtProject(at): AtProject,
    SourceNetwork(source): SourceNetwork,
    asker: Asker,
    Json(body): Json<HeartbeatRequest>,
) -> JsonResult<HeartbeatResponse> {
    let actor = asker.actor(&app, &at, None, &source).await?;
    Ok(axum::Json(app.engine.agents().heartbeat(&at, &actor, &body).await?))
}
