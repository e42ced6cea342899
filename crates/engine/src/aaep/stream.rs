//! stub
use std::sync::Arc;

pub struct EventStream { _none: () }

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivered {
    Event { event_id: String, json: Arc<str> },
    /// The hub ends the stream.
    Closed { reason_code: String, reason_message: String },
}

#[allow(clippy::unused_async)]
impl EventStream {
    pub async fn next(&mut self) -> Option<Delivered> { None }
}
