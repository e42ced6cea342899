//! Server-sent events: lines that end in LF, one line of data an event, and a sign of life every ten seconds.

use crate::serve::Connection;
use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use countersign_engine::{Delivered, EventStream};
use countersign_protocol::aaep::handshake::Close;
use futures_util::{Stream, StreamExt as _, stream};
use http::{HeaderValue, header};
use std::{convert::Infallible, pin::Pin, sync::Arc, time::Duration};
use tokio::time::{Interval, MissedTickBehavior};

/// Clients that hear nothing for 30 seconds give up.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// How events are written. Some clients hear only unnamed ones (C17).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Named,
    Unnamed,
}

/// What a stream brings.
#[derive(Clone, Debug)]
pub(super) enum Frame {
    Event {
        event_id: String,
        json: Arc<str>,
    },
    /// An answer of the handshake, where it comes by the stream (S3).
    Message(String),
    /// The subscription is over, as a `subscription.close` document.
    Closed(String),
}

/// A stream of frames as an answer that goes on until they end, the caller leaves or the node stops.
pub(super) fn response(frames: impl Stream<Item = Frame> + Send + 'static, style: Style, on: Connection) -> Response {
    let mut heartbeat = tokio::time::interval(HEARTBEAT);
    heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    heartbeat.reset();
    let writing = Writing { frames: Box::pin(frames), style, heartbeat, on, begun: false };
    let mut response = Body::from_stream(stream::unfold(writing, Writing::next)).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store, no-cache"));
    // A proxy that collects answers would hold questions back until it is too late.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// What the hub delivers of one subscription.
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

struct Writing<S> {
    frames: Pin<Box<S>>,
    style: Style,
    heartbeat: Interval,
    on: Connection,
    begun: bool,
}

impl<S: Stream<Item = Frame>> Writing<S> {
    async fn next(mut self) -> Option<(Result<Bytes, Infallible>, Self)> {
        if !self.begun {
            self.begun = true;
            return Some((Ok(Bytes::from_static(b"retry: 1000\n\n")), self));
        }
        let text = tokio::select! {
            () = self.on.is_to_end() => return None,
            frame = self.frames.next() => {
                self.heartbeat.reset();
                self.style.written(&frame?)
            }
            _ = self.heartbeat.tick() => ":\n\n".to_owned(),
        };
        Some((Ok(Bytes::from(text)), self))
    }
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
            // It would be taken for an event.
            (Self::Unnamed, Frame::Closed(_)) => ":\n\n".to_owned(),
        }
    }
}

/// Some clients end a line at these, and the rest of the event would be lost. In JSON they stand inside strings only.
fn line(json: &str) -> String {
    json.replace('\u{85}', "\\u0085").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests;
