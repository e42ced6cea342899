//! `POST /agent/delegate/requests`: an operator requests a delegation.

use crate::{
    App,
    http::{address::Source, answer::Refused, at::At, body::Json, version::Spoken},
};
use axum::extract::State;
use countersign_protocol::aap::delegate::{ConnectRequestBody, ConnectRequestResponse};
use countersign_protocol::aap::error::Envelope;
use http::StatusCode;

#[utoipa::path(
    post,
    path = "/agent/delegate/requests",
    tag = "operators",
    summary = "Request a connection to a person",
    params(("Aap-Version" = String, Header, description = "The protocol version of the agent", example = "2.0")),
    request_body = ConnectRequestBody,
    responses((status = 201, description = "The page on which the person answers", body = ConnectRequestResponse), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = Envelope), (status = "5XX", description = "Server error", body = Envelope))
)]
pub(crate) async fn post(
    State(app): State<App>,
    _spoken: Spoken,
    At(at): At,
    Source(source): Source,
    Json(body): Json<ConnectRequestBody>,
) -> Result<(StatusCode, axum::Json<ConnectRequestResponse>), Refused> {
    Ok((StatusCode::CREATED, axum::Json(app.engine.connect(&at, &body, &source).await?)))
}
