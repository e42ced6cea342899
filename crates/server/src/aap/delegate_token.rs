//! `POST /agent/delegate/token`: the operator exchanges its code.

use crate::{
    App,
    http::{address::Source, answer::Refused, at::At, body::Json, version::Spoken},
};
use axum::extract::State;
use countersign_protocol::aap::delegate::{ExchangeRequest, ExchangeResponse};
use countersign_protocol::aap::error::Envelope;

#[utoipa::path(
    post,
    path = "/agent/delegate/token",
    tag = "operators",
    summary = "Exchange the one-time code for the delegation token",
    params(("Aap-Version" = String, Header, description = "The protocol version of the agent", example = "2.0")),
    request_body = ExchangeRequest,
    responses((status = 200, description = "The delegation token", body = ExchangeResponse), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = Envelope), (status = "5XX", description = "Server error", body = Envelope))
)]
pub(crate) async fn post(
    State(app): State<App>,
    _spoken: Spoken,
    At(at): At,
    Source(source): Source,
    Json(body): Json<ExchangeRequest>,
) -> Result<axum::Json<ExchangeResponse>, Refused> {
    Ok(axum::Json(app.engine.exchange(&at, &body, &source).await?))
}
