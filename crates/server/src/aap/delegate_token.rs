//! `POST /agent/delegate/token`: the operator exchanges its code.

use crate::{
    App,
    http::{address::Source, answer::Refused, at::At, body::Json, version::Spoken},
};
use axum::extract::State;
use countersign_protocol::aap::delegate::{ExchangeRequest, ExchangeResponse};

pub(super) async fn post(
    State(app): State<App>,
    _spoken: Spoken,
    At(at): At,
    Source(source): Source,
    Json(body): Json<ExchangeRequest>,
) -> Result<axum::Json<ExchangeResponse>, Refused> {
    Ok(axum::Json(app.engine.exchange(&at, &body, &source).await?))
}
