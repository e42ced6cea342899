//! Request bodies that were not read to their end.
//!
//! A connection takes its next request only after the whole of this one. The rest of a request that was answered early is
//! read and discarded if it is short and arrives soon; otherwise the response announces that the connection closes, or a
//! client with a connection pool would send its next request into a closed connection.

use bytes::Bytes;
use http::{HeaderValue, Request, Response, Version, header};
use http_body_util::BodyExt as _;
use hyper::body::{Body, Frame, SizeHint};
use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};
use tokio::sync::oneshot;

/// Limits for the discarded rest: its size, and the time until it has arrived.
const DRAINED_BYTES: u64 = 64 * 1024;
const DRAINED_WITHIN: Duration = Duration::from_secs(1);

/// A body that returns to its [`Unread`] when it is dropped before its end.
pub struct Watched<B> {
    body: Option<B>,
    back: Option<oneshot::Sender<B>>,
}

/// Receives a watched body that was dropped before its end.
pub struct Unread<B> {
    back: oneshot::Receiver<B>,
    version: Version,
    /// Reading on would make the client send a body that it has not begun to send.
    expects_continue: bool,
}

/// Watches whether the body of a request is read to its end.
pub fn watch<B: Body>(request: Request<B>) -> (Request<Watched<B>>, Unread<B>) {
    let (sender, back) = oneshot::channel();
    let expects_continue = request.headers().contains_key(header::EXPECT);
    let unread = Unread { back, version: request.version(), expects_continue };
    (request.map(|body| Watched { body: Some(body), back: Some(sender) }), unread)
}

impl<B> Unread<B>
where
    B: Body<Data = Bytes> + Unpin,
{
    /// Makes the connection fit for the next request, or announces its end in the response.
    pub async fn settle<T>(mut self, answer: &mut Response<T>) {
        let Ok(body) = self.back.try_recv() else { return };
        let drained = !self.expects_continue && is_drained(body).await;
        if !drained && self.version < Version::HTTP_2 {
            answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
    }
}

async fn is_drained<B>(mut body: B) -> bool
where
    B: Body<Data = Bytes> + Unpin,
{
    if body.size_hint().lower() > DRAINED_BYTES {
        return false;
    }
    let drained = async {
        let mut thrown_away = 0;
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else { return false };
            thrown_away += frame.data_ref().map_or(0, |data| data.len() as u64);
            if thrown_away > DRAINED_BYTES {
                return false;
            }
        }
        true
    };
    tokio::time::timeout(DRAINED_WITHIN, drained).await.unwrap_or(false)
}

impl<B> Body for Watched<B>
where
    B: Body<Data = Bytes> + Unpin,
{
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = self.get_mut();
        let Some(body) = &mut this.body else { return Poll::Ready(None) };
        let next = Pin::new(body).poll_frame(cx);
        // A body that broke off has no rest either.
        if matches!(next, Poll::Ready(None | Some(Err(_)))) {
            this.back = None;
        }
        next
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}

impl<B> Drop for Watched<B> {
    fn drop(&mut self) {
        if let (Some(body), Some(back)) = (self.body.take(), self.back.take()) {
            let _nobody_waits = back.send(body);
        }
    }
}

#[cfg(test)]
mod tests;
