//! The connection to one producer: its address and the credential. The credential is sent only in its own header; reply
//! tokens only in bodies.

use crate::{
    secret::ClientSecret,
    transport::{Request, Response, Streaming, StreamingResponse, Unreachable},
};
use countersign_protocol::{ids::ProjectId, origin::Origin};
use http::{HeaderValue, Method, header};
use serde_json::Value;
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// The time limit of everything but the stream.
const TIME_LIMIT: Duration = Duration::from_secs(20);
const ANSWER_CAP: usize = 4 * 1024 * 1024;

pub(super) struct Link {
    transport: Arc<dyn Streaming>,
    base: String,
    pub(super) origin: Origin,
    credential: ClientSecret,
    /// Replaced after the producer has forgotten the subscription.
    subscription: Mutex<String>,
}

impl Link {
    pub(super) fn new(
        transport: Arc<dyn Streaming>,
        origin: &Origin,
        project: Option<&ProjectId>,
        credential: ClientSecret,
    ) -> Self {
        let base = match project {
            Some(project) => format!("{origin}/projects/{project}/aaep/v1"),
            None => format!("{origin}/aaep/v1"),
        };
        Self { transport, base, origin: origin.clone(), credential, subscription: Mutex::default() }
    }

    pub(super) fn subscription_id(&self) -> String {
        self.subscription.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn subscribed_as(&self, id: &str) {
        id.clone_into(&mut self.subscription.lock().unwrap_or_else(PoisonError::into_inner));
    }

    pub(super) async fn get(&self, path: &str) -> Result<Response, Unreachable> {
        self.send(Request::get(format!("{}{path}", self.base))).await
    }

    pub(super) async fn post(&self, path: &str, body: &Value) -> Result<Response, Unreachable> {
        self.send(Request::post_json(format!("{}{path}", self.base), body.to_string())).await
    }

    /// Fetches a public document of the producer's origin; without the credential.
    pub(super) async fn published(&self, path: &str) -> Result<Response, Unreachable> {
        self.transport.send(Request::get(format!("{}{path}", self.origin))).await
    }

    async fn send(&self, mut request: Request) -> Result<Response, Unreachable> {
        (request.answer_cap, request.time_limit) = (ANSWER_CAP, Some(TIME_LIMIT));
        request.headers.insert(header::AUTHORIZATION, self.bearer()?);
        self.transport.send(request).await
    }

    pub(super) async fn events(&self, last_event_id: Option<&str>) -> Result<StreamingResponse, Unreachable> {
        let url = format!("{}/events?subscription_id={}", self.base, self.subscription_id());
        let mut request = Request::new(Method::GET, url, bytes::Bytes::new());
        request.time_limit = Some(TIME_LIMIT);
        request.headers.insert(header::ACCEPT, HeaderValue::from_static("text/event-stream"));
        request.headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        request.headers.insert(header::AUTHORIZATION, self.bearer()?);
        if let Some(id) = last_event_id.and_then(|id| HeaderValue::from_str(id).ok()) {
            request.headers.insert("last-event-id", id);
        }
        self.transport.open(request).await
    }

    fn bearer(&self) -> Result<HeaderValue, Unreachable> {
        let text = format!("Bearer {}", self.credential.reveal());
        let mut value =
            HeaderValue::try_from(text).map_err(|_| Unreachable::Fetch(crate::transport::FetchError::Http))?;
        value.set_sensitive(true);
        Ok(value)
    }
}
