//! `POST /agent/revoke` (AAP 17.3)

use crate::{
    App,
    http::{address::Source, answer::Refused, asker::Asker, at::At, body::Json},
};
use axum::extract::State;
use countersign_protocol::aap::revoke::{RevokeRequest, RevokeResponse};

pub(super) async fn post(
    State(app): State<App>,
    At(at): At,
    Source(source): Source,
    asker: Asker,
    Json(body): Json<RevokeRequest>,
) -> Result<axum::Json<RevokeResponse>, Refused> {
    let actor = asker.actor(&app, &at, body.operator_jwt.as_deref(), &source).await?;
    Ok(axum::Json(app.engine.revoke(&at, &actor, &body).await?))
}
