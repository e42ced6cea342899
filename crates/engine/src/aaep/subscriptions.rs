//! stub
use super::subscribers::Listener;
use super::stream::EventStream;
use crate::{engine::Engine, projects::ProjectAt};
use countersign_core::refusal::Refusal;
use countersign_protocol::aaep::{handshake::{Renegotiate, SubscriptionAccepted, SubscriptionRejected, SubscriptionRequest, ReasonCode}, manifest::Manifest, reply::Reply};
use std::sync::Arc;

#[allow(unused_variables, clippy::unused_async)]
impl Engine {
    pub async fn aaep_manifest(&self, at: &ProjectAt) -> Result<(Manifest, String), Refusal> { Err(Refusal::Unavailable) }
    pub async fn subscribe(self: &Arc<Self>, at: &ProjectAt, listener: &Listener, request: &SubscriptionRequest) -> Result<SubscriptionAccepted, SubscriptionRejected> {
        Err(SubscriptionRejected::new(ReasonCode::TransportUnavailable, "not yet"))
    }
    pub async fn renegotiate(&self, at: &ProjectAt, listener: &Listener, message: &Renegotiate) -> Result<SubscriptionAccepted, SubscriptionRejected> {
        Err(SubscriptionRejected::new(ReasonCode::TransportUnavailable, "not yet"))
    }
    pub async fn close_subscription(&self, at: &ProjectAt, listener: &Listener, id: &str) -> Result<(), Refusal> { Err(Refusal::Unavailable) }
    pub async fn subscribe_implicitly(self: &Arc<Self>, at: &ProjectAt, listener: &Listener) -> Result<String, Refusal> { Err(Refusal::Unavailable) }
    pub async fn stream(self: &Arc<Self>, at: &ProjectAt, listener: &Listener, subscription_id: &str, last_event_id: Option<&str>) -> Result<EventStream, Refusal> { Err(Refusal::Unavailable) }
    pub async fn reply(&self, at: &ProjectAt, listener: &Listener, reply: &Reply, legacy: bool) -> Result<(), Refusal> { Err(Refusal::Unavailable) }
}
