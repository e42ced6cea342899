//! `GET /mplp/v1/roles`: the labels under which people and agents ask and decide (M-06).

use super::{caller::MplpCaller, denied::Denied};
use crate::App;
use axum::extract::State;
use countersign_engine::mplp_views::roles;
use countersign_protocol::{
    aap::error::ErrorEnvelope,
    mplp::{ListPage, MplpRole},
};

#[utoipa::path(
    get,
    path = "/mplp/v1/roles",
    tag = "plans",
    summary = "The roles of the project and their capabilities",
    responses((status = 200, description = "Roles by the published schema, without their members", body = ListPage<MplpRole>), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("bearer" = []))
)]
pub(crate) async fn get(State(app): State<App>, caller: MplpCaller) -> Result<axum::Json<ListPage<MplpRole>>, Denied> {
    let items = roles::documents(&caller.at.project.document, app.engine.now());
    Ok(axum::Json(ListPage { items, next: None }))
}
