//! Forwards MCP messages to a service for a program that speaks the protocol over lines: each is one request, and every
//! response is passed back. Nothing here knows any tool; the only locally generated response is that the service could
//! not be reached.

mod bridge;
mod message;

pub use bridge::bridge;
pub use message::McpMessage;

use crate::{
    aaep::sse::Decoder,
    service_client::{ServiceClient, ServiceError},
    transport::{Chunks, FetchError, Request, Response, Streaming, StreamingResponse, Unreachable},
};
use countersign_protocol::{ids::ProjectId, origin::Origin};
use http::{HeaderValue, StatusCode, header};
use serde_json::Value;
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// A service is silent for 55 seconds at most; after this silence it is considered lost.
const SILENCE: Duration = Duration::from_secs(65);
/// Plans are the largest responses.
const ANSWER_CAP: usize = 4 * 1024 * 1024;

/// The `/mcp` endpoint of a service for one agent: by its API key (`csk_…`) or an AAP access token.
pub struct Mcp {
    client: ServiceClient,
    streaming: Arc<dyn Streaming>,
    /// The version agreed at `initialize`; newer clients state it in every message instead.
    agreed: Mutex<Option<String>>,
}

impl Mcp {
    pub fn new(
        service: &Origin,
        project: Option<&ProjectId>,
        credential: &str,
        streaming: Arc<impl Streaming + 'static>,
    ) -> Self {
        let client = ServiceClient::new(service, project, credential, streaming.clone());
        Self { client, streaming, agreed: Mutex::default() }
    }

    /// Sends one message. `tell` receives every returned message: one for a request, none for a notification.
    pub async fn send(&self, message: &McpMessage, mut tell: impl FnMut(Value) + Send) -> Result<(), ServiceError> {
        let opened = tokio::time::timeout(SILENCE, self.open(message)).await.unwrap_or(Err(connection_lost()))?;
        let is_stream = opened.status.is_success() && is_event_stream(&opened);
        if is_stream {
            return self.forward_stream(opened.body, message, &mut tell).await;
        }
        let answer = whole(opened).await?;
        match serde_json::from_slice::<Value>(&answer.body) {
            // A refusal of the protocol itself is a response too.
            Ok(told) if told.get("jsonrpc").is_some() => self.forward(told, message, &mut tell),
            _ if answer.status == StatusCode::ACCEPTED => {}
            _ => return Err(ServiceError::refused(&answer).unwrap_or(ServiceError::BadAnswer)),
        }
        Ok(())
    }

    async fn open(&self, message: &McpMessage) -> Result<StreamingResponse, ServiceError> {
        let mut request = Request::post_json(self.client.url("/mcp"), message.text().to_owned());
        request.headers.insert(header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        let agreed = self.agreed.lock().unwrap_or_else(PoisonError::into_inner).clone();
        request.headers.extend(message.headers(agreed.as_deref()));
        self.client.open(self.streaming.as_ref(), request, SILENCE).await
    }

    async fn forward_stream(
        &self,
        mut body: Box<dyn Chunks>,
        message: &McpMessage,
        tell: &mut (impl FnMut(Value) + Send),
    ) -> Result<(), ServiceError> {
        let mut decoder = Decoder::default();
        while let Some(bytes) = tokio::time::timeout(SILENCE, body.chunk()).await.unwrap_or(Err(timed_out()))? {
            for event in decoder.push(&bytes).map_err(|_| ServiceError::BadAnswer)? {
                // An event without data only has a resumption id.
                if !event.data.is_empty() {
                    let told = serde_json::from_str(&event.data).map_err(|_| ServiceError::BadAnswer)?;
                    self.forward(told, message, tell);
                }
            }
        }
        Ok(())
    }

    fn forward(&self, mut told: Value, message: &McpMessage, tell: &mut impl FnMut(Value)) {
        if message.method() == "initialize"
            && let Some(version) = told.pointer("/result/protocolVersion").and_then(Value::as_str)
        {
            *self.agreed.lock().unwrap_or_else(PoisonError::into_inner) = Some(version.to_owned());
        }
        // The service has no id of an unreadable message; here the request is known.
        let is_nobodys = told.get("error").is_some() && told.get("id").is_none_or(Value::is_null);
        if let (Some(id), true, Some(told)) = (message.id(), is_nobodys, told.as_object_mut()) {
            told.insert("id".into(), id.clone());
        }
        tell(told);
    }
}

fn is_event_stream(opened: &StreamingResponse) -> bool {
    let kind = opened.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
}

async fn whole(opened: StreamingResponse) -> Result<Response, ServiceError> {
    let StreamingResponse { status, headers, mut body } = opened;
    let mut bytes = Vec::new();
    while let Some(more) = tokio::time::timeout(SILENCE, body.chunk()).await.unwrap_or(Err(timed_out()))? {
        bytes.extend_from_slice(&more);
        if bytes.len() > ANSWER_CAP {
            return Err(ServiceError::BadAnswer);
        }
    }
    Ok(Response { status, headers, body: bytes.into() })
}

fn timed_out() -> Unreachable {
    FetchError::TimedOut.into()
}

fn connection_lost() -> ServiceError {
    timed_out().into()
}

#[cfg(test)]
mod tests;
