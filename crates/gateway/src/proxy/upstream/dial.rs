//! Opening a connection to an upstream that a project's admin configured.

use super::Destination;
use countersign_engine::SendRight;
use futures_util::future::BoxFuture;
use rustls::{
    ClientConfig, RootCertStore,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, ServerName, pem::PemObject as _},
};
use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    sync::watch,
};
use tokio_rustls::{TlsConnector, client::TlsStream};
use tokio_util::either::Either;

/// A connection in plain text, or with TLS.
pub(super) type UpstreamStream = Either<TcpStream, Box<TlsStream<TcpStream>>>;

/// The send right of the request on a connection; `None` while it carries none.
#[derive(Clone, Default)]
pub(super) struct Right(Arc<Mutex<Option<SendRight>>>);

impl Right {
    pub(super) fn set(&self, right: Option<SendRight>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = right;
    }

    fn get(&self) -> MutexGuard<'_, Option<SendRight>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes while the send right holds, and counts flushes: a request has left when its last piece was flushed.
pub(super) struct Flushed {
    stream: UpstreamStream,
    unflushed: bool,
    flushes: Arc<watch::Sender<u64>>,
    right: Right,
    /// Set while writing is suspended.
    regained: Option<BoxFuture<'static, ()>>,
}

impl Flushed {
    pub(super) fn new(stream: UpstreamStream) -> (Self, Arc<watch::Sender<u64>>, Right) {
        let (flushes, right) = (Arc::new(watch::Sender::new(0)), Right::default());
        (
            Self { stream, unflushed: false, flushes: Arc::clone(&flushes), right: right.clone(), regained: None },
            flushes,
            right,
        )
    }

    /// The right is checked with every piece: after a suspension of the process any of its tasks may run first.
    fn poll_piece<T>(
        &mut self,
        cx: &mut Context<'_>,
        send: impl FnOnce(Pin<&mut UpstreamStream>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let right = self.right.get();
        let Some(right) = right.as_ref() else { return send(Pin::new(&mut self.stream), cx) };
        loop {
            if let Some(_piece) = right.begin_piece() {
                return send(Pin::new(&mut self.stream), cx);
            }
            if right.is_cut() {
                return Poll::Ready(Err(io::Error::other("the request was cut off while it was being sent")));
            }
            let regained = self.regained.get_or_insert_with(|| Box::pin(right.recovered()));
            ready!(regained.as_mut().poll(cx));
            self.regained = None;
        }
    }
}

impl AsyncRead for Flushed {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(cx, to)
    }
}

impl AsyncWrite for Flushed {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        this.unflushed = true;
        this.poll_piece(cx, |stream, cx| stream.poll_write(cx, from))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        from: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        this.unflushed = true;
        this.poll_piece(cx, |stream, cx| stream.poll_write_vectored(cx, from))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if !this.unflushed {
            return Pin::new(&mut this.stream).poll_flush(cx);
        }
        let flushed = this.poll_piece(cx, |stream, cx| stream.poll_flush(cx));
        if matches!(flushed, Poll::Ready(Ok(()))) {
            this.unflushed = false;
            this.flushes.send_modify(|flushes| *flushes += 1);
        }
        flushed
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place that connects to upstreams, which an admin configured")]
pub(super) async fn dial(to: &Destination, tls: &TlsConnector) -> io::Result<UpstreamStream> {
    let tcp = TcpStream::connect((to.host.as_str(), to.port)).await?;
    let _kept_small = tcp.set_nodelay(true);
    if !to.https {
        return Ok(Either::Left(tcp));
    }
    let name = ServerName::try_from(to.host.clone()).map_err(io::Error::other)?;
    Ok(Either::Right(Box::new(tls.connect(name, tcp).await?)))
}

#[derive(Debug, thiserror::Error)]
pub enum BadRoots {
    #[error("the extra root certificates for upstreams are not PEM")]
    NotPem,
    #[error("an extra root certificate for upstreams cannot be used: {0}")]
    Unusable(rustls::Error),
    #[error("TLS to upstreams cannot be set up: {0}")]
    Tls(rustls::Error),
}

/// Trusts the machine's roots, and those added by the configuration.
pub(super) fn connector(extra_roots_pem: &[u8]) -> Result<TlsConnector, BadRoots> {
    let mut roots = RootCertStore::empty();
    // A machine without roots is no error by itself: an air-gapped one may have only its own.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    for certificate in CertificateDer::pem_slice_iter(extra_roots_pem) {
        roots.add(certificate.map_err(|_| BadRoots::NotPem)?).map_err(BadRoots::Unusable)?;
    }
    let mut config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(BadRoots::Tls)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsConnector::from(Arc::new(config)))
}
