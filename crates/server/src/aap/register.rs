//! `POST /agent/register` (AAP 17.1)

use crate::{
    App,
    http::{address::Source, answer::Refused, at::At, body::Json, version::Spoken},
};
use axum::extract::State;
use countersign_protocol::aap::error::Envelope;
use countersign_protocol::aap::register::{RegisterRequest, RegisterResponse};

#[utoipa::path(
    post,
    path = "/agent/register",
    tag = "agents",
    summary = "Exchange operator JWT, delegation and receipt for an access token",
    params(("Aap-Version" = String, Header, description = "The protocol version that the agent speaks", example = "2.0")),
    request_body = RegisterRequest,
    responses((status = 200, description = "Registered", body = RegisterResponse), (status = "4XX", description = "Refused: the envelope says why and what to do", body = Envelope), (status = "5XX", description = "Trouble on our side", body = Envelope))
)]
pub(crate) async fn post(
    State(app): State<App>,
    _spoken: Spoken,
    At(at): At,
    Source(source): Source,
    Json(body): Json<RegisterRequest>,
) -> Result<axum::Json<RegisterResponse>, Refused> {
    Ok(axum::Json(app.engine.register(&at, &body, &source).await?))
}
