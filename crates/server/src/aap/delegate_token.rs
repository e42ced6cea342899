//! `POST /agent/delegate/token`: the operator exchanges its code.

use crate::{
    App,
    http::{address::SourceNetwork, answer::RefusalResponse, at::AtProject, body::Json, version::VersionHeader},
};
use axum::extract::State;
use countersign_protocol::aap::delegate::{ExchangeRequest, ExchangeResponse};
use countersign_protocol::aap::error::ErrorEnvelope;

#[utoipa::path(
    post,
    path = "/agent/delegate/token",
    tag = "operators",
    summary = "Exchange the one-time code for the delegation token",
    params(("Aap-Version" = String, Header, description = "The protocol version of the agent", example = "2.0")),
    request_body = ExchangeRequest,
    responses((status = 200, description = "The delegation token", body = ExchangeResponse), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope))
)]
pub(crate) async fn post(
    State(app): State<App>,
    _spoken: VersionHeader,
    AtProject(at): AtProject,
    SourceNetwork(source): SourceNetwork,
    Json(body): Json<ExchangeRequest>,
) -> Result<axum::Json<ExchangeResponse>, RefusalResponse> {
    Ok(axum::Json(app.engine.agents().exchange(&at, &body, &source).await?))
}
