//! Endless responses, for streams.

use super::{Transport, Unreachable, WithLoopback};
use async_trait::async_trait;
use bytes::Bytes;
use countersign_outbound::{Fetcher, Request, Streamed};
use http::{HeaderMap, StatusCode};

/// A transport that can also stream a response.
#[async_trait]
pub trait Streaming: Transport {
    async fn open(&self, request: Request) -> Result<StreamingResponse, Unreachable>;
}

/// The head of a response, and its remaining body.
pub struct StreamingResponse {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Box<dyn Chunks>,
}

/// A stream of bytes. Cancel safe.
#[async_trait]
pub trait Chunks: Send {
    /// The next bytes; none at the end.
    async fn chunk(&mut self) -> Result<Option<Bytes>, Unreachable>;
}

#[async_trait]
impl Chunks for Streamed {
    async fn chunk(&mut self) -> Result<Option<Bytes>, Unreachable> {
        Ok(Streamed::chunk(self).await?)
    }
}

impl From<Streamed> for StreamingResponse {
    fn from(streamed: Streamed) -> Self {
        Self { status: streamed.status, headers: streamed.headers.clone(), body: Box::new(streamed) }
    }
}

#[async_trait]
impl Streaming for Fetcher {
    async fn open(&self, request: Request) -> Result<StreamingResponse, Unreachable> {
        Ok(Fetcher::open(self, request).await?.into())
    }
}

#[async_trait]
impl Streaming for WithLoopback {
    async fn open(&self, request: Request) -> Result<StreamingResponse, Unreachable> {
        if !request.url.starts_with("http://") {
            return Streaming::open(&self.0, request).await;
        }
        Ok(self.begin(request).await?.into())
    }
}
