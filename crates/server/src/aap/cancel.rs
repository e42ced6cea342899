//! `POST /agent/cancel` (AAP 17.7, C-41)

use crate::{
    App,
    http::{address::Source, answer::Refused, asker::Asker, at::At, body::Json},
};
use axum::extract::State;
use countersign_protocol::aap::revoke::{CancelRequest, CancelResponse};

pub(super) async fn post(
    State(app): State<App>,
    At(at): At,
    Source(source): Source,
    asker: Asker,
    Json(body): Json<CancelRequest>,
) -> Result<axum::Json<CancelResponse>, Refused> {
    let actor = asker.actor(&app, &at, body.operator_jwt.as_deref(), &source).await?;
    Ok(axum::Json(app.engine.cancel(&at, &actor, &body).await?))
}
