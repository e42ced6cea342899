//! Server-sent events as a response: lines that end in LF, and a heartbeat every ten seconds.

use crate::serve::ClientConnection;
use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, stream};
use http::{HeaderValue, header};
use std::{convert::Infallible, pin::Pin, time::Duration};
use tokio::time::{Interval, MissedTickBehavior};

/// Clients give up after 30 seconds of silence.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// A response of written events that lasts until they end, the client disconnects or the node stops.
pub(crate) fn response(written: impl Stream<Item = String> + Send + 'static, on: ClientConnection) -> Response {
    let mut heartbeat = tokio::time::interval(HEARTBEAT);
    heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    heartbeat.reset();
    let writing = Writing { written: Box::pin(written), heartbeat, on, begun: false };
    let mut response = Body::from_stream(stream::unfold(writing, Writing::next)).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store, no-cache"));
    // A buffering proxy would hold questions back until it is too late.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// Some clients end a line at these characters and would lose the rest of the event. In JSON they occur inside strings
/// only.
pub(crate) fn line(json: &str) -> String {
    json.replace('\u{85}', "\\u0085").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

struct Writing<S> {
    written: Pin<Box<S>>,
    heartbeat: Interval,
    on: ClientConnection,
    begun: bool,
}

impl<S: Stream<Item = String>> Writing<S> {
    async fn next(mut self) -> Option<(Result<Bytes, Infallible>, Self)> {
        if !self.begun {
            self.begun = true;
            return Some((Ok(Bytes::from_static(b"retry: 1000\n\n")), self));
        }
        let text = tokio::select! {
            () = self.on.is_to_end() => return None,
            event = self.written.next() => {
                self.heartbeat.reset();
                event?
            }
            _ = self.heartbeat.tick() => ":\n\n".to_owned(),
        };
        Some((Ok(Bytes::from(text)), self))
    }
}
