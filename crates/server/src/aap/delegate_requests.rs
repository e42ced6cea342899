//! `POST /agent/delegate/requests`: an operator asks to be connected.

use crate::{
    App,
    http::{address::Source, answer::Refused, at::At, body::Json, version::Spoken},
};
use axum::extract::State;
use countersign_protocol::aap::delegate::{ConnectRequestBody, ConnectRequestResponse};
use http::StatusCode;

pub(super) async fn post(
    State(app): State<App>,
    _spoken: Spoken,
    At(at): At,
    Source(source): Source,
    Json(body): Json<ConnectRequestBody>,
) -> Result<(StatusCode, axum::Json<ConnectRequestResponse>), Refused> {
    let request = app.engine.connect(&at, &body, &source).await?;
    let answer = ConnectRequestResponse {
        connect_url: format!("{}/connect/{}", app.engine.settings().origin, request.id),
        request_id: request.id,
        expires_at: request.expires_at,
    };
    Ok((StatusCode::CREATED, axum::Json(answer)))
}
