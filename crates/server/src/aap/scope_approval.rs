//! `GET /agent/scope-approval` (AAP glossary, C-63)

use crate::{
    http::answer::{ErrorResponses, JsonResult},
    serve::ClientConnection,
    v1::{AgentCaller, decisions::seconds_to_wait},
};
use axum::extract::{Query, rejection::QueryRejection};
use countersign_engine::Refusal;
use countersign_protocol::aap::scope_approval::ScopeApproval;

#[derive(Debug, Default, serde::Deserialize)]
pub(crate) struct ScopeApprovalParams {
    session_id: Option<String>,
    wait: Option<String>,
}

#[utoipa::path(
    get, path = "/agent/scope-approval", tag = "agents", security(("bearer" = [])),
    summary = "The person's answer about a scope beyond the consent receipt",
    params(
        ("session_id" = String, Query, description = "The caller's own session"),
        ("wait" = Option<u32>, Query, minimum = 0, maximum = 55, description = "How many seconds to wait for the answer; repeat the request if there was none"),
        ("Aap-Version" = String, Header, description = "The protocol version"),
    ),
    responses((status = 200, description = "The current request of the session, and all of them; `none` if there was none", body = ScopeApproval), ErrorResponses),
)]
pub(crate) async fn get(
    AgentCaller { engine, at, agent, token }: AgentCaller,
    mut connection: ClientConnection,
    asked: Result<Query<ScopeApprovalParams>, QueryRejection>,
) -> JsonResult<ScopeApproval> {
    let Query(asked) = asked.map_err(|_| Refusal::invalid("the query could not be read"))?;
    let session_id = asked.session_id.ok_or_else(|| Refusal::invalid("session_id is required"))?;
    let (wait, agents) = (seconds_to_wait(asked.wait)?, engine.agents());
    if wait.is_zero() {
        return Ok(axum::Json(agents.scope_approval(&at, &agent, &session_id).await?));
    }
    // A node that stops answers its waiters with the current state; they ask again, here or at another node.
    let answer = tokio::select! {
        settled = agents.await_scope_approval(&at, (&agent, &token), &session_id, wait) => settled?,
        () = connection.is_to_end() => agents.scope_approval(&at, &agent, &session_id).await?,
    };
    Ok(axum::Json(answer))
}
