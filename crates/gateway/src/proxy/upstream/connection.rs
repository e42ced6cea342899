//! One connection to an upstream, for one request at a time.

use super::{
    dial::{Flushed, Right, dial},
    pool::Site,
};
use crate::proxy::bodies::{OutgoingBody, ToUpstream};
use countersign_engine::{SendRight, UpstreamError};
use http::{Request, Response};
use hyper::{
    body::Incoming,
    client::conn::http1::{self, SendRequest},
};
use hyper_util::rt::TokioIo;
use std::{future::Future, io, sync::Arc, time::Duration};
use tokio::{
    sync::{oneshot, watch},
    task::AbortHandle,
};
use tokio_rustls::TlsConnector;

/// The largest head of a response.
const MAX_HEAD_BYTES: usize = 64 * 1024;
/// After its last response was read a connection is free at once, or it is broken.
const FREE_WITHIN: Duration = Duration::from_millis(20);

pub(crate) struct UpstreamConnection {
    sender: SendRequest<OutgoingBody>,
    site: Arc<Site>,
    /// Whether it has carried a request before: the upstream may be about to close it.
    pub(crate) used: bool,
    /// Whether it returns to the pool. A connection dialled for a single call does not: otherwise every approved call
    /// would leave an idle connection behind.
    pooled: bool,
    /// Counts complete flushes of the connection.
    flushes: Arc<watch::Sender<u64>>,
    right: Right,
    task: AbortHandle,
}

/// A request without a response.
pub(crate) struct SendFailure {
    pub(crate) error: UpstreamError,
    /// The request, if it never left.
    pub(crate) unsent: Option<Box<Request<ToUpstream>>>,
}

impl From<UpstreamError> for SendFailure {
    fn from(error: UpstreamError) -> Self {
        Self { error, unsent: None }
    }
}

impl UpstreamConnection {
    pub(super) async fn open(site: &Arc<Site>, tls: &TlsConnector) -> io::Result<Self> {
        let (stream, flushes, right) = Flushed::new(dial(&site.destination, tls).await?);
        let stream = TokioIo::new(stream);
        let mut builder = http1::Builder::new();
        builder.max_buf_size(MAX_HEAD_BYTES).max_header_size(MAX_HEAD_BYTES);
        let (sender, connection) = builder.handshake(stream).await.map_err(io::Error::other)?;
        let task = tokio::spawn(async move {
            if let Err(why) = connection.with_upgrades().await {
                tracing::debug!(%why, "a connection to an upstream broke");
            }
        });
        Ok(Self {
            sender,
            site: Arc::clone(site),
            used: false,
            pooled: false,
            flushes,
            right,
            task: task.abort_handle(),
        })
    }

    /// Lets the connection return to the pool once it is free.
    pub(crate) fn pooled(self) -> Self {
        Self { pooled: true, ..self }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    pub(super) async fn is_free(&mut self) -> bool {
        self.sender.is_ready() || matches!(tokio::time::timeout(FREE_WITHIN, self.sender.ready()).await, Ok(Ok(())))
    }

    /// Ends the send right: later bytes belong to no write that could be cut.
    pub(crate) fn end_send_right(&self) {
        self.right.set(None);
    }

    /// Sends a request once, while its send right holds. The first future is the response, the second resolves when all of it has left.
    pub(crate) fn send(
        &mut self,
        request: Request<ToUpstream>,
        right: Option<SendRight>,
    ) -> (impl Future<Output = Result<Response<Incoming>, SendFailure>> + use<>, impl Future<Output = ()> + use<>) {
        self.used = true;
        self.right.set(right);
        let (complete, completed) = oneshot::channel();
        let request = request.map(|body| OutgoingBody::new(body, Arc::clone(&self.flushes), complete));
        let mut flushes = self.flushes.subscribe();
        let left = async move {
            // The sender is dropped together with an unsent request; the response future reports that error.
            let Ok(before) = completed.await else { return std::future::pending().await };
            if flushes.wait_for(|flushes| *flushes > before).await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        let sending = self.sender.try_send_request(request);
        let answer = async move {
            sending.await.map_err(|mut failed| match failed.take_message() {
                Some(request) => SendFailure {
                    error: UpstreamError::NotSent("the connection was closed before anything was sent"),
                    unsent: Some(Box::new(request.map(OutgoingBody::into_inner))),
                },
                None => connection_lost(&failed.into_error()).into(),
            })
        };
        (answer, left)
    }

    /// Closes it at once, also in the middle of a request.
    pub(crate) fn cut(self) {
        self.task.abort();
    }

    /// Call this when the response was read to its end.
    pub(crate) fn release(self) {
        if self.pooled {
            let site = Arc::clone(&self.site);
            site.put_back(self);
        }
    }
}

fn connection_lost(why: &hyper::Error) -> UpstreamError {
    tracing::warn!(%why, "an upstream sent no response");
    UpstreamError::ConnectionLost(match why.is_parse() {
        true => "the upstream response is not valid HTTP",
        false => "the connection broke",
    })
}
