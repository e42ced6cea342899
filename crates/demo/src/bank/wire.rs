//! The agent's connection. It remembers the last request, as a thief of a request would have it.

use super::super::plane::{transport, trouble};
use crate::DemoFailure;
use async_trait::async_trait;
use countersign_client::transport::{Request, Response, Transport, Unreachable, WithLoopback};
use std::sync::{Mutex, PoisonError};

pub(super) struct Wire {
    inner: WithLoopback,
    last: Mutex<Option<Request>>,
}

impl Wire {
    pub(super) fn new() -> Result<Self, DemoFailure> {
        Ok(Self { inner: transport()?, last: Mutex::new(None) })
    }

    /// The last request with its token and its proof.
    pub(super) fn last(&self) -> Result<Request, DemoFailure> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        last.ok_or_else(|| DemoFailure::new("the agent has sent nothing yet"))
    }

    /// Sends the identical request again.
    pub(super) async fn replay(&self, request: &Request) -> Result<Response, DemoFailure> {
        self.inner.send(request.clone()).await.map_err(trouble)
    }
}

#[async_trait]
impl Transport for Wire {
    async fn send(&self, request: Request) -> Result<Response, Unreachable> {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(request.clone());
        self.inner.send(request).await
    }
}
