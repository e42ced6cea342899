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
    summary = "Ask to be connected to a person",
    params(("Aap-Version" = String, Header, description = "The protocol version that the agent speaks", example = "2.0")),
    request_body = ConnectRequestBody,
    responses((status = 201, description = "Where the person answers", body = ConnectRequestResponse), (status = "4XX", description = "Refused: the envelope says why and what to do", body = Envelope), (status = "5XX", description = "Trouble on our side", body = Envelope))
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
