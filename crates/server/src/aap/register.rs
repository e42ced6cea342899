//! `POST /agent/register` (AAP 17.1)

use crate::{
    App,
    http::{address::Source, answer::Refused, at::At, body::Json, version::Spoken},
};
use axum::extract::State;
use countersign_protocol::aap::register::{RegisterRequest, RegisterResponse};

pub(super) async fn post(
    State(app): State<App>,
    _spoken: Spoken,
    At(at): At,
    Source(source): Source,
    Json(body): Json<RegisterRequest>,
) -> Result<axum::Json<RegisterResponse>, Refused> {
    Ok(axum::Json(app.engine.register(&at, &body, &source).await?))
}
