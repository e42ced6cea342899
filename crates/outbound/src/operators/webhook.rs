//! Posts messages to operators' webhooks, and checkpoints to witnesses, under the same guards as every other request.

use super::{Directory, OperatorUnavailable};
use crate::{exchange::Request, fetch::FetchError};
use countersign_protocol::{domain::Domain, time::UnixMillis};
use http::{HeaderName, HeaderValue, Method, header};
use std::time::Duration;

/// AAP 17.8: a later response is no acknowledgement.
const TIME_LIMIT: Duration = Duration::from_secs(5);

/// Why a webhook gave no response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WebhookError {
    #[error("the operator's identity manifest is not available: {0}")]
    Manifest(#[from] OperatorUnavailable),
    #[error("the operator's identity manifest has no webhook_url")]
    NoUrl,
    #[error("a header value is not valid")]
    Header,
    #[error(transparent)]
    Exchange(#[from] FetchError),
}

impl Directory {
    /// One POST of a checkpoint to a witness that the installation's configuration names.
    pub async fn post_checkpoint(&self, url: &str, body: Vec<u8>) -> Result<(u16, Vec<u8>), FetchError> {
        let mut request = Request::new(Method::POST, url.to_owned(), body.into());
        request.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        request.time_limit = Some(TIME_LIMIT);
        self.visitor.post_for_body(request).await
    }

    /// One POST to the `webhook_url` in the manifest of `domain`, and the status of its response. The manifest is at most
    /// an hour old, and a URL outside the domain makes it invalid (C-67).
    pub async fn post_webhook(
        &self,
        domain: &Domain,
        now: UnixMillis,
        headers: &[(&'static str, String)],
        body: Vec<u8>,
    ) -> Result<u16, WebhookError> {
        let operator = self.current(&self.host(domain, now, None)?, now, None).await?;
        let url = operator.identity.webhook_url.as_ref().ok_or(WebhookError::NoUrl)?;
        let mut request = Request::post_json(url.as_str(), body);
        request.time_limit = Some(TIME_LIMIT);
        for (name, value) in headers {
            let value = HeaderValue::from_str(value).map_err(|_| WebhookError::Header)?;
            request.headers.insert(HeaderName::from_static(name), value);
        }
        Ok(self.visitor.post(request).await?)
    }
}
