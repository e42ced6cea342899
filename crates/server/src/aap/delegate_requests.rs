//! `POST /agent/delegate/requests`: an operator requests a delegation.

use crate::{
    App,
    http::{address::SourceNetwork, answer::RefusalResponse, at::AtProject, body::Json, version::VersionHeader},
};
use axum::extract::State;
use countersign_protocol::aap::delegate::{ConnectRequestBody, ConnectRequestResponse};
use countersign_protocol::aap::error::ErrorEnvelope;
use http::StatusCode;

#[utoipa::path(
    post,
    path = "/agent/delegate/requests",
    tag = "operators",
    summary = "Request a connection to a person",
    params(("Aap-Version" = String, Header, description = "The protocol version of the agent", example = "2.0")),
    request_body = ConnectRequestBody,
    responses((status = 201, description = "The page on which the person answers", body = ConnectRequestResponse), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope))
)]
pub(crate) async fn post(
    State(app): State<App>,
    _spoken: VersionHeader,
    AtProject(at): AtProject,
    SourceNetwork(source): SourceNetwork,
    Json(body): Json<ConnectRequestBody>,
) -> Result<(StatusCode, axum::Json<ConnectRequestResponse>), RefusalResponse> {
    Ok((StatusCode::CREATED, axum::Json(app.engine.agents().connect(&at, &body, &source).await?)))
}
