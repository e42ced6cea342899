//! `GET /mplp/v1/roles`: the labels under which people and agents ask and decide (M-06).

use super::{caller::Caller, denied::Denied};
use crate::App;
use axum::extract::State;
use countersign_engine::mplp_views::roles;
use countersign_protocol::{
    aap::error::Envelope,
    mplp::{Listed, Role},
};

#[utoipa::path(
    get,
    path = "/mplp/v1/roles",
    tag = "plans",
    summary = "The roles of the project and their capabilities",
    responses((status = 200, description = "Roles by the published schema, without their members", body = Listed<Role>), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = Envelope), (status = "5XX", description = "Server error", body = Envelope)),
    security(("bearer" = []))
)]
pub(crate) async fn get(State(app): State<App>, caller: Caller) -> Result<axum::Json<Listed<Role>>, Denied> {
    let items = roles::documents(&caller.at.project.document, app.engine.now());
    Ok(axum::Json(Listed { items, next: None }))
}
