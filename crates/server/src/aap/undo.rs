//! Undoes a call within its undo window.

use crate::{
    http::{
        answer::{ErrorResponses, JsonResult},
        body::Json,
    },
    v1::AgentCaller,
};
use axum::extract::Path;
use countersign_engine::Refusal;
use countersign_protocol::aap::undo::{UndoRequest, UndoResponse};
use std::collections::HashMap;

/// AAP 14.1, C-58: the `undo_endpoint` of a scope.
#[utoipa::path(
    post, path = "/agent/undo", tag = "agents", security(("bearer" = [])), request_body = UndoRequest,
    summary = "Undo a call within its undo window",
    params(("Aap-Version" = String, Header, description = "The protocol version")),
    responses((status = 200, description = "The call is undone: it was not sent and never will be, or the service undid it; a repeat gets the same response", body = UndoResponse), ErrorResponses),
)]
pub(crate) async fn undo(
    AgentCaller { engine, at, agent, .. }: AgentCaller,
    Json(body): Json<UndoRequest>,
) -> JsonResult<UndoResponse> {
    let id = body.undo_id.ok_or_else(|| Refusal::invalid("undo_id is required"))?;
    Ok(axum::Json(engine.calls().undo(&at, &agent, &id).await?))
}

/// AAP 14.1, C-58: the `undo_url` of one call.
#[utoipa::path(
    post, path = "/agent/undo/{undo_id}", tag = "agents", security(("bearer" = [])),
    summary = "Undo a call by its undo URL",
    params(
        ("undo_id" = String, Path, description = "Of the 202 that held the call, or of the response to it"),
        ("Aap-Version" = String, Header, description = "The protocol version"),
    ),
    responses((status = 200, description = "The call is undone: it was not sent and never will be, or the service undid it; a repeat gets the same response", body = UndoResponse), ErrorResponses),
)]
pub(crate) async fn undo_by_url(
    AgentCaller { engine, at, agent, .. }: AgentCaller,
    Path(path): Path<HashMap<String, String>>,
) -> JsonResult<UndoResponse> {
    let id = path.get("undo_id").map(String::as_str).unwrap_or_default();
    Ok(axum::Json(engine.calls().undo(&at, &agent, id).await?))
}
