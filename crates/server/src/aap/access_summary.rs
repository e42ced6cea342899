//! `GET /agent/access-summary` (AAP 14.3, 17.5)

use crate::{
    App,
    http::{
        address::SourceNetwork,
        answer::{ErrorResponses, JsonResult},
        at::AtProject,
        caller::Asker,
    },
};
use axum::extract::{Query, State, rejection::QueryRejection};
use countersign_engine::Refusal;
use countersign_protocol::aap::access_summary::AccessSummary;

#[derive(Debug, Default, serde::Deserialize)]
pub(crate) struct SummaryParams {
    delegation_id: Option<String>,
}

#[utoipa::path(
    get, path = "/agent/access-summary", tag = "people", security(("session" = []), ("bearer" = [])),
    summary = "The current access of agents",
    params(("delegation_id" = Option<String>, Query, description = "Adds the total access of that delegation's agent for its person. Required with an admin's key; without it the active delegations of the caller are listed"),
        ("Aap-Version" = Option<String>, Header, description = "The protocol version; required with an agent's or operator's credentials")),
    responses((status = 200, description = "The active delegations", body = AccessSummary), ErrorResponses),
)]
pub(crate) async fn get(
    State(app): State<App>,
    AtProject(at): AtProject,
    SourceNetwork(source): SourceNetwork,
    asker: Asker,
    asked: Result<Query<SummaryParams>, QueryRejection>,
) -> JsonResult<AccessSummary> {
    let actor = asker.reader(&app, &at, &source).await?;
    let Query(asked) = asked.map_err(|_| Refusal::invalid("the query could not be read"))?;
    let summary = app.engine.agents().access_summary(&at, &actor, asked.delegation_id.as_deref()).await?;
    Ok(axum::Json(summary))
}
