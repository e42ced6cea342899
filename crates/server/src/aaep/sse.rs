//! The events of a subscription, written as server-sent events: one line of data per event.

use crate::{
    http::sse::{self, line},
    serve::ClientConnection,
};
use axum::response::Response;
use countersign_engine::{Delivered, EventStream};
use countersign_protocol::aaep::handshake::Close;
use futures_util::{Stream, StreamExt as _, stream};
use std::sync::Arc;

/// Event naming. Some clients receive only unnamed events (C17).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Named,
    Unnamed,
}

/// One item of a stream.
#[derive(Clone, Debug)]
pub(super) enum Frame {
    Event {
        event_id: String,
        json: Arc<str>,
    },
    /// A handshake response, where it is sent on the stream (S3).
    Message(String),
    /// The end of the subscription, as a `subscription.close` document.
    Closed(String),
}

/// A streaming response that lasts until the frames end, the client disconnects or the node stops.
pub(super) fn response(
    frames: impl Stream<Item = Frame> + Send + 'static,
    style: Style,
    on: ClientConnection,
) -> Response {
    sse::response(frames.map(move |frame| style.written(&frame)), on)
}

/// The hub's deliveries for one subscription.
pub(super) fn frames(events: EventStream, subscription_id: String) -> impl Stream<Item = Frame> + Send {
    stream::unfold(Some((events, subscription_id)), |going| async move {
        let (mut events, subscription_id) = going?;
        Some(match events.next().await? {
            Delivered::Event { event_id, json } => (Frame::Event { event_id, json }, Some((events, subscription_id))),
            Delivered::Closed { reason_code, reason_message } => {
                (Frame::Closed(close(subscription_id, reason_code, reason_message)), None)
            }
        })
    })
}

/// The producer's own `subscription.close`.
pub(super) fn close(subscription_id: String, reason_code: String, reason_message: String) -> String {
    let document = Close { subscription_id, reason_code: Some(reason_code), reason_message: Some(reason_message) };
    serde_json::to_string(&document).unwrap_or_default()
}

impl Style {
    fn written(self, frame: &Frame) -> String {
        match (self, frame) {
            (Self::Named, Frame::Event { event_id, json }) => {
                format!("event: aaep.event\nid: {event_id}\ndata: {}\n\n", line(json))
            }
            (Self::Unnamed, Frame::Event { event_id, json }) => format!("id: {event_id}\ndata: {}\n\n", line(json)),
            (_, Frame::Message(json)) => format!("data: {}\n\n", line(json)),
            (Self::Named, Frame::Closed(json)) => format!("event: aaep.close\ndata: {}\n\n", line(json)),
            // The client would take it for an event.
            (Self::Unnamed, Frame::Closed(_)) => ":\n\n".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests;
