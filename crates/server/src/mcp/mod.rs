//! `/mcp`: the agent operations of `/v1` and `/mplp/v1`, as tools of the Model Context Protocol, at the unscoped path
//! and under `/projects/{projectId}`.
//!
//! Every request is authenticated by itself: there are no MCP sessions, so that any node answers any request and
//! only the credential identifies the caller. No message over this connection is a decision: no tool gives a
//! person's answer, and nobody is ever asked through the agent's own client.
//!
//! | file | its one job |
//! |---|---|
//! | `guard` | host and origin checks |
//! | `message` | one JSON-RPC message, parsed as strictly as every other body |
//! | `server` | the protocol, by `rmcp`, with types that only this folder knows |
//! | `tool` | the trait of a tool |
//! | `hints` | the next step after a refusal |
//! | `descriptions` | tool definitions and refusals as clients see them |
//! | `schema` | the JSON Schemas of tools, made from the documents themselves |
//! | `tools` | one file a subject |
//!
//! A new tool is a type that implements [`tool::Tool`] in the file of its subject below `tools`, and
//! its entry in [`tools::ALL`]. Its arguments and its answer are documents with `utoipa::ToSchema`; a refusal that it
//! returns is sent as the envelope. A tool that makes plans or attestations declares it with `GENERATES`.

mod descriptions;
mod guard;
mod hints;
mod message;
mod schema;
mod server;
mod tool;
mod tools;

use crate::{
    App,
    http::{
        answer::{Enveloped, RefusalResponse},
        layers,
        request_id::RequestId,
    },
    serve::ClientConnection,
    v1::AgentCaller,
};
use axum::{
    Router,
    extract::{FromRequestParts as _, Request, State},
    middleware,
    response::{IntoResponse as _, Response},
    routing::post,
};
use countersign_protocol::mplp::submission::MAX_PLAN_BYTES;
use http::header;
use tool::ToolCall;

pub(crate) const PATH: &str = "/mcp";
/// Bytes of a message besides the arguments of a tool.
const FRAME_BYTES: usize = 16 * 1024;

pub(crate) fn router() -> Router<App> {
    Router::new().merge(endpoint()).nest("/projects/{projectId}", endpoint())
}

/// Nothing is streamed, so there is nothing to GET, and no session that could be DELETEd.
fn endpoint() -> Router<App> {
    Router::new()
        .route(PATH, post(self::post_message).options(guard::preflight))
        .layer(middleware::map_response(layers::keep_nothing))
}

#[utoipa::path(
    post, path = "/mcp", tag = "mcp", security(("bearer" = [])),
    request_body(content = Object, description = "A JSON-RPC 2.0 message"),
    summary = "Model Context Protocol",
    description = "One JSON-RPC 2.0 message of the Model Context Protocol a request: initialize, tools/list, tools/call and others. Clients learn the tools from tools/list; nothing is streamed, and there are no sessions. A tool's refusal is a result with isError, answered with 200.",
    responses((status = 200, description = "The answer to a request", body = Object), (status = 202, description = "A notification was accepted"), (status = "4XX", description = "Refused: an error of JSON-RPC, or the envelope", body = Object), (status = "5XX", description = "Server error", body = Object)),
)]
pub(crate) async fn post_message(
    State(app): State<App>,
    id: RequestId,
    connection: ClientConnection,
    request: Request,
) -> Result<Response, Response> {
    let (mut parts, body) = request.into_parts();
    let page = guard::check(&app, &parts).map_err(|outsider| outsider.response(&app, &id))?;
    let caller = AgentCaller::from_request_parts(&mut parts, &app).await.map_err(RefusalResponse::into_response)?;
    let most = app.limits.max_body_bytes.max(MAX_PLAN_BYTES) + FRAME_BYTES;
    let message = message::read(Request::from_parts(parts.clone(), body), most).await?;
    let answer = server::answer(ToolCall { app, caller, connection, id }, parts, message).await;
    Ok(page.may_read(mark_enveloped(answer)))
}

/// The protocol's own errors stay as they are. Any other failure gets the envelope.
fn mark_enveloped(mut answer: Response) -> Response {
    let kind = answer.headers().get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok());
    if kind.is_some_and(|kind| kind.starts_with("application/json")) {
        answer.extensions_mut().insert(Enveloped);
    }
    answer
}
