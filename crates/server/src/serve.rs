//! Listening: limits on every connection, and a shutdown that lets open requests finish.

mod activity;

use activity::Activity;
use axum::{Router, extract::FromRequestParts};
use countersign_gateway::{Accepted, Acceptor, AddressPlace, ConnectionLimits, CountedConnection, Network, sends_data};
use http::request::Parts;
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
};
use std::{
    convert::Infallible,
    net::SocketAddr,
    pin::{Pin, pin},
    sync::Arc,
    time::Duration,
};
use tokio::{
    net::TcpListener,
    sync::{OwnedSemaphorePermit, Semaphore, watch},
};
use tower::ServiceExt as _;

/// How long open requests may take to finish when the node stops.
const FINISH: Duration = Duration::from_secs(10);
/// How long the announcement of an idle connection's end may take to reach the peer.
const GOODBYE: Duration = Duration::from_secs(1);

/// Limits on callers.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// From the connection to its first byte.
    pub first_byte: Duration,
    /// To the end of a request's head, from the connection or from the end of the previous response.
    pub header_read: Duration,
    /// How long an HTTP/2 connection stays open without a request, or with a response that the client does not read.
    pub idle: Duration,
    pub request: Duration,
    pub max_body_bytes: usize,
    pub max_connections: usize,
    /// Of one address; for IPv6 of one /64.
    pub max_connections_per_address: usize,
    /// Concurrent requests on one HTTP/2 connection.
    pub max_streams: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            first_byte: Duration::from_secs(10),
            header_read: Duration::from_secs(15),
            idle: Duration::from_secs(60),
            request: Duration::from_secs(30),
            max_body_bytes: 64 * 1024,
            max_connections: 4096,
            max_connections_per_address: 256,
            max_streams: 64,
        }
    }
}

/// A listener in service; it ends when it is stopped or dropped.
pub struct ServedListener {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    done: tokio::task::JoinHandle<()>,
}

impl ServedListener {
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Another server on `address`, which runs until the future passed to it resolves.
    pub(crate) fn until_told<F>(address: SocketAddr, serve: impl FnOnce(StopSignal) -> F) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (stop, mut stopped) = watch::channel(false);
        let told: StopSignal = Box::pin(async move { drop(stopped.wait_for(|stop| *stop).await) });
        Self { address, stop, done: tokio::spawn(serve(told)) }
    }

    /// Accepts no more connections, lets open requests finish for up to ten seconds, then ends.
    pub async fn stop(self) {
        let _told = self.stop.send(true);
        let _ended = self.done.await;
    }
}

/// Resolves when a listener is to stop, or when its handle is dropped.
pub(crate) type StopSignal = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The connection of a request. A handler with a long-lived response, such as a stream or a socket, keeps this until the
/// response ends: the connection counts until then, and the handler learns when to end.
#[derive(Clone)]
pub(crate) struct ClientConnection(Option<ConnectionGuard>);

#[derive(Clone)]
struct ConnectionGuard {
    _place: ConnectionSlot,
    stopped: watch::Receiver<bool>,
}

/// Its place in the total and in the limit of its address.
type ConnectionSlot = Arc<(OwnedSemaphorePermit, AddressPlace)>;

impl ClientConnection {
    /// Resolves when the listener is to stop; never for a request without a listener.
    pub(crate) async fn is_to_end(&mut self) {
        match &mut self.0 {
            Some(held) => drop(held.stopped.wait_for(|stop| *stop).await),
            None => std::future::pending().await,
        }
    }
}

impl<S: Sync> FromRequestParts<S> for ClientConnection {
    type Rejection = Infallible;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(parts.extensions.get::<ConnectionGuard>().cloned()))
    }
}

/// Serves `router` on a bound listener.
pub fn serve(listener: TcpListener, router: Router, limits: Limits) -> std::io::Result<ServedListener> {
    serve_behind(listener, router, limits, Vec::new())
}

/// The same behind proxies, which may hold any number of the connections.
pub fn serve_behind(
    listener: TcpListener,
    router: Router,
    limits: Limits,
    trusted_proxies: Vec<Network>,
) -> std::io::Result<ServedListener> {
    let address = listener.local_addr()?;
    let (total, per_address) = (limits.max_connections, limits.max_connections_per_address);
    let acceptor = Acceptor::new(listener, ConnectionLimits { total, per_address, trusted_proxies });
    let (stop, stopped) = watch::channel(false);
    let done = tokio::spawn(accept(acceptor, router, limits, stopped));
    Ok(ServedListener { address, stop, done })
}

async fn accept(acceptor: Acceptor, router: Router, limits: Limits, mut stopped: watch::Receiver<bool>) {
    let builder = Arc::new(http(limits));
    loop {
        let accepted = tokio::select! {
            accepted = acceptor.accept() => accepted,
            _ = stopped.wait_for(|stop| *stop) => break,
        };
        tokio::spawn(connection(accepted, Arc::clone(&builder), router.clone(), limits, stopped.clone()));
    }
    let places = acceptor.close();
    tokio::select! {
        () = all_gone(&places, limits.max_connections) => {}
        () = tokio::time::sleep(FINISH) => tracing::warn!("some requests did not finish in time"),
    }
}

type Http = auto::Builder<TokioExecutor>;

fn http(limits: Limits) -> Http {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(limits.header_read).max_buf_size(64 * 1024);
    builder.http2().timer(TokioTimer::new()).max_concurrent_streams(limits.max_streams);
    builder
}

async fn connection(
    accepted: Accepted,
    builder: Arc<Http>,
    router: Router,
    limits: Limits,
    mut stopped: watch::Receiver<bool>,
) {
    let Accepted { stream, peer, place, address_place } = accepted;
    let head = pin!(tokio::time::sleep(limits.header_read));
    // The builder would wait without limit for the first bytes, which tell the protocol.
    let speaks = tokio::select! {
        speaks = sends_data(&stream, limits.first_byte.min(limits.header_read)) => speaks,
        _ = stopped.wait_for(|stop| *stop) => false,
    };
    if !speaks {
        return;
    }
    let place = Arc::new((place, address_place));
    let held = ConnectionGuard { _place: Arc::clone(&place), stopped: stopped.clone() };
    let activity = Arc::new(Activity::default());
    let service = service_fn(|mut request: http::Request<Incoming>| {
        let busy = activity.begin();
        request.extensions_mut().insert(axum::extract::ConnectInfo(peer));
        request.extensions_mut().insert(held.clone());
        let answer = router.clone().oneshot(request.map(axum::body::Body::new));
        async move { answer.await.map(|response| busy.answer(response)) }
    });
    let connection =
        builder.serve_connection_with_upgrades(TokioIo::new(CountedConnection::new(stream, place)), service);
    let mut connection = pin!(connection);
    let is_over = tokio::select! {
        _ended = connection.as_mut() => return,
        () = activity.is_over(head, limits) => true,
        _ = stopped.wait_for(|stop| *stop) => false,
    };
    connection.as_mut().graceful_shutdown();
    // A stopping node lets open requests finish; an idle connection has none to wait for.
    let time = if is_over { GOODBYE } else { FINISH };
    let _ended = tokio::time::timeout(time, connection).await;
}

/// Every connection keeps its place until it is closed, also after an upgrade.
async fn all_gone(places: &Semaphore, count: usize) {
    let _all = places.acquire_many(u32::try_from(count).unwrap_or(u32::MAX)).await;
}
