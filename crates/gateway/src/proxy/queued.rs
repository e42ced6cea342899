//! Sends held calls through the proxy when their undo window has closed (AAP 14.1).

use super::{ProxyState, bodies::Arriving, exchange::ProxyExchange};
use async_trait::async_trait;
use countersign_engine::{QueuedSender, Refusal};
use countersign_protocol::ids::RowKey;
use http::Request;
use std::sync::Weak;

/// Weak: the engine has it, and the proxy has the engine.
pub(super) struct ProxySender(pub(super) Weak<ProxyState>);

#[async_trait]
impl QueuedSender for ProxySender {
    async fn send(&self, allowance: RowKey) -> Result<(), Refusal> {
        let Some(shared) = self.0.upgrade() else { return Ok(()) };
        let engine = std::sync::Arc::clone(&shared.engine);
        // The stored request is all that is sent; nobody is connected.
        let (parts, ()) = Request::new(()).into_parts();
        let exchange = ProxyExchange::new(shared, parts, None::<Arriving>, String::new());
        engine.calls().carry_out_queued(allowance, exchange).await
    }
}
