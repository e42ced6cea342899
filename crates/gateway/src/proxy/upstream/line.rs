//! One connection to a service behind, that carries one request at a time.

use super::{
    dial::{Stream, dial},
    pool::Site,
};
use crate::proxy::bodies::ToUpstream;
use http::{Request, Response};
use hyper::{
    body::Incoming,
    client::conn::http1::{self, SendRequest},
};
use hyper_util::rt::TokioIo;
use std::{io, sync::Arc, time::Duration};
use tokio_rustls::TlsConnector;

/// The head of an answer may have this many bytes.
const MAX_HEAD_BYTES: usize = 64 * 1024;
/// A connection whose last answer was read is free at once, or something is wrong with it.
const FREE_WITHIN: Duration = Duration::from_millis(20);

pub(crate) struct Line {
    sender: SendRequest<ToUpstream>,
    site: Arc<Site>,
    /// Whether it has carried a request before: the service may be about to close it.
    pub(crate) used: bool,
}

/// A request that brought no answer.
pub(crate) enum Unanswered {
    /// It never left, and here it is.
    Unsent(Box<Request<ToUpstream>>),
    /// It left, or part of it may have.
    Lost(hyper::Error),
}

impl Line {
    pub(super) async fn open(site: &Arc<Site>, tls: &TlsConnector) -> io::Result<Self> {
        let stream: TokioIo<Stream> = TokioIo::new(dial(&site.destination, tls).await?);
        let mut builder = http1::Builder::new();
        builder.max_buf_size(MAX_HEAD_BYTES).max_header_size(MAX_HEAD_BYTES);
        let (sender, connection) = builder.handshake(stream).await.map_err(io::Error::other)?;
        tokio::spawn(async move {
            if let Err(why) = connection.with_upgrades().await {
                tracing::debug!(%why, "a connection to an upstream broke");
            }
        });
        Ok(Self { sender, site: Arc::clone(site), used: false })
    }

    pub(super) fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    pub(super) async fn is_free(&mut self) -> bool {
        self.sender.is_ready() || matches!(tokio::time::timeout(FREE_WITHIN, self.sender.ready()).await, Ok(Ok(())))
    }

    /// Sends a request, once. Whether it may be sent again is said by what comes back.
    pub(crate) async fn send(&mut self, request: Request<ToUpstream>) -> Result<Response<Incoming>, Unanswered> {
        self.used = true;
        self.sender.try_send_request(request).await.map_err(|mut failed| match failed.take_message() {
            Some(request) => Unanswered::Unsent(Box::new(request)),
            None => Unanswered::Lost(failed.into_error()),
        })
    }

    /// To be called when the answer was read to its end.
    pub(crate) fn give_back(self) {
        let site = Arc::clone(&self.site);
        site.keep(self);
    }
}
