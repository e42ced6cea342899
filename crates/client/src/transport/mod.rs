//! Outgoing requests: through the guarded client, or a replacement in tests.

mod loopback;
mod streaming;

pub use countersign_outbound::{FetchError, Request, Response};
pub use loopback::WithLoopback;
pub use streaming::{Chunks, Streaming, StreamingResponse};

use async_trait::async_trait;
use countersign_outbound::Fetcher;

/// One exchange. The caller judges the status; redirects are not followed.
#[async_trait]
pub trait Transport: Send + Sync {
    async fn send(&self, request: Request) -> Result<Response, Unreachable>;
}

/// Why there is no response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreachable {
    #[error(transparent)]
    Fetch(#[from] FetchError),
    #[error("plain http is used for this machine only")]
    NotLoopback,
}

impl Unreachable {
    /// Whether a retry may succeed later.
    pub(crate) fn may_pass(&self) -> bool {
        !matches!(self, Self::NotLoopback | Self::Fetch(FetchError::Url(_)))
    }
}

/// The guarded client: https, a public address, no redirect.
#[async_trait]
impl Transport for Fetcher {
    async fn send(&self, request: Request) -> Result<Response, Unreachable> {
        Ok(self.request(request).await?)
    }
}
