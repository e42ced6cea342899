//! Calls that differ from those of a well-behaved agent.

use crate::{Answer, Plane, send_to};
use axum::{Router, body::Body};
use countersign_engine::{Address, Engine};
use countersign_gateway::CountersignLayer;
use http::{HeaderName, HeaderValue, request::Builder};
use std::sync::Arc;

/// Removes or replaces headers of a request builder.
pub trait Altered {
    fn without(self, name: &'static str) -> Self;
    fn instead(self, name: &'static str, value: &str) -> Self;
}

impl Altered for Builder {
    fn without(mut self, name: &'static str) -> Self {
        self.headers_mut().expect("a sound request so far").remove(name);
        self
    }

    fn instead(mut self, name: &'static str, value: &str) -> Self {
        let value = HeaderValue::from_str(value).expect("a header's value");
        self.headers_mut().expect("a sound request so far").insert(HeaderName::from_static(name), value);
        self
    }
}

impl Plane {
    /// Sends a request of the test's own to the API behind the gateway.
    pub async fn try_call(&self, request: Builder) -> Answer {
        send_to(&self.api(), request.body(Body::empty()).unwrap()).await
    }

    /// The API behind another node's gateway.
    pub fn api_of(&self, engine: &Arc<Engine>) -> Router {
        self.upstream.router().layer(CountersignLayer::new(Arc::clone(engine), Address::Unscoped))
    }
}
