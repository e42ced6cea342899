//! Activity of a connection, so that an idle one is closed.

use super::Limits;
use axum::body::Body;
use bytes::Bytes;
use http::Response;
use hyper::body::{Body as _, Frame, SizeHint};
use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::time::{Sleep, sleep};

/// An idle connection is noticed after its timeout and at most this part of it.
const LOOKS: u32 = 4;

/// The activity of one connection, in any protocol. Bytes outside of requests and responses, such as pings, do not count.
#[derive(Default)]
pub(super) struct Activity {
    /// Requests without a response yet, and responses without a known length.
    busy: AtomicUsize,
    /// Counts every activity.
    moves: AtomicU64,
}

/// A request that is being answered.
pub(super) struct Busy(Arc<Activity>);

impl Activity {
    pub(super) fn begin(self: &Arc<Self>) -> Busy {
        self.busy.fetch_add(1, Ordering::Relaxed);
        self.moved();
        Busy(Arc::clone(self))
    }

    /// Resolves when the first request has not arrived by `head`, or the connection was idle for too long.
    pub(super) async fn is_over(&self, head: Pin<&mut Sleep>, limits: Limits) {
        tokio::select! {
            () = self.is_late(head) => {}
            () = self.is_idle(limits.idle / LOOKS) => {}
        }
    }

    async fn is_late(&self, head: Pin<&mut Sleep>) {
        head.await;
        if self.moves.load(Ordering::Relaxed) > 0 {
            std::future::pending().await
        }
    }

    /// Polls at intervals instead of being woken by every activity.
    async fn is_idle(&self, between: Duration) {
        let (mut before, mut quiet) = (0, 0);
        while quiet < LOOKS {
            sleep(between).await;
            let now = self.moves.load(Ordering::Relaxed);
            let is_quiet = now == before && self.busy.load(Ordering::Relaxed) == 0;
            (before, quiet) = (now, if is_quiet { quiet + 1 } else { 0 });
        }
    }

    fn moved(&self) {
        self.moves.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::Relaxed);
        self.0.moved();
    }
}

impl Busy {
    /// The response is ready. One without a known length keeps its connection busy; the client has to read any other.
    pub(super) fn answer(self, response: Response<Body>) -> Response<Sending> {
        let activity = Arc::clone(&self.0);
        response.map(|body| {
            let endless = body.size_hint().exact().is_none().then_some(self);
            Sending { body, activity, _endless: endless }
        })
    }
}

/// A body on its way to the caller.
pub(super) struct Sending {
    body: Body,
    activity: Arc<Activity>,
    _endless: Option<Busy>,
}

impl hyper::body::Body for Sending {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        self.activity.moved();
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
