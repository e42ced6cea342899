//! The protocol itself, by the library of its authors. A server is created for one request of one authenticated caller,
//! so nobody else can reach it; it speaks the current version and the earlier ones.

use super::{
    descriptions::{definition, refused},
    tool::ToolCall,
    tools,
};
use axum::{body::Body, response::Response};
use bytes::Bytes;
use http::{HeaderValue, Request, header, request::Parts};
use http_body_util::Full;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult, CustomRequest,
        CustomResult, ErrorCode, Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
        ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
    },
};
use std::sync::Arc;

const INSTRUCTIONS: &str = "Ask a person before you do anything irreversible: request_confirmation, then \
    await_decision until a person has decided, then begin_action, then do it once, then report_outcome. list_actions \
    lists the actions you may request. A plan of several steps is approved once: propose_plan, then plan_status and \
    report_step. If information is missing or ambiguous, do not guess: request_clarification, or for a whole plan \
    wwa_clarify_check. People decide on the page linked in every answer, never through these tools: show them the \
    link. Never do anything that is not accepted.";

pub(super) async fn answer(call: ToolCall, mut parts: Parts, message: Bytes) -> Response {
    // The library must not see the credentials. Responses are always JSON, regardless of `Accept`.
    for spent in [header::AUTHORIZATION, header::COOKIE, header::HeaderName::from_static("dpop")] {
        parts.headers.remove(spent);
    }
    parts.headers.insert(header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    let serving = McpRequestServer(Arc::new(call));
    let service =
        StreamableHttpService::new(move || Ok(serving.clone()), Arc::new(NeverSessionManager::default()), config());
    service.handle(Request::from_parts(parts, Full::new(message))).await.map(Body::new)
}

/// Hosts, origins and sizes were checked before.
fn config() -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(usize::MAX)
}

/// The server of one request.
#[derive(Clone)]
struct McpRequestServer(Arc<ToolCall>);

impl ServerHandler for McpRequestServer {
    fn get_info(&self) -> ServerConfig {
        let who = Implementation::new("countersign", env!("CARGO_PKG_VERSION")).with_title("Countersign");
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(who)
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::ALL.iter().map(definition).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::find(name).map(definition)
    }

    async fn call_tool(
        &self,
        asked: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let unknown = || ErrorData::invalid_params(format!("there is no tool {:?}", shortened(&asked.name)), None);
        let tool = tools::find(&asked.name).ok_or_else(unknown)?;
        let answer = tokio::select! {
            answer = (tool.call)(&self.0, asked.arguments.unwrap_or_default()) => answer,
            // The client has disconnected. The started operation is either durable or was not done; nobody is left to
            // tell.
            () = context.ct.cancelled() => return Err(ErrorData::internal_error("the request was cancelled", None)),
        };
        Ok(answer.map_or_else(|refusal| refused(&self.0, &refusal), CallToolResult::structured).into())
    }

    /// A method that the library knows gets here only if its parameters have the wrong type.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let shakes_hands = context.protocol_version().is_none_or(|version| version < ProtocolVersion::V_2026_07_28);
        match request.method.as_str() {
            "tools/call" => Err(ErrorData::invalid_params("name must be text, and arguments an object", None)),
            "initialize" if shakes_hands => Err(ErrorData::invalid_params(
                "protocolVersion must be text, capabilities an object, and clientInfo an object with name and version",
                None,
            )),
            _ => Err(not_served()),
        }
    }

    // The library would answer these with an empty list, as if entries could exist.

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(not_served())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(not_served())
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(not_served())
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(not_served())
    }
}

fn not_served() -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "this method is not served here", None)
}

/// Limits the length of a caller's text in an error message.
fn shortened(name: &str) -> String {
    name.chars().take(64).collect()
}
