//! Listening: limits on every connection, and an end that lets requests under way finish.

use axum::{Router, extract::FromRequestParts};
use http::request::Parts;
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::{conn::auto, graceful::GracefulShutdown},
    service::TowerToHyperService,
};
use std::{convert::Infallible, net::SocketAddr, pin::Pin, sync::Arc, time::Duration};
use tokio::{
    net::TcpListener,
    sync::{OwnedSemaphorePermit, Semaphore, watch},
};
use tower::ServiceExt as _;

/// What one caller may take up.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub header_read: Duration,
    pub request: Duration,
    pub max_body_bytes: usize,
    pub max_connections: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            header_read: Duration::from_secs(10),
            request: Duration::from_secs(30),
            max_body_bytes: 64 * 1024,
            max_connections: 4096,
        }
    }
}

/// A listener that is being served; ends when told to, or when dropped.
pub struct Serving {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    done: tokio::task::JoinHandle<()>,
}

impl Serving {
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Something else that serves on `address`, until the future that it is given resolves.
    pub(crate) fn until_told<F>(address: SocketAddr, serve: impl FnOnce(Told) -> F) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (stop, mut stopped) = watch::channel(false);
        let told: Told = Box::pin(async move { drop(stopped.wait_for(|stop| *stop).await) });
        Self { address, stop, done: tokio::spawn(serve(told)) }
    }

    /// Takes no more connections, lets requests under way finish for up to ten seconds, and is over.
    pub async fn stop(self) {
        let _told = self.stop.send(true);
        let _ended = self.done.await;
    }
}

/// Resolves when a listener is to stop, or when nobody holds it any more.
pub(crate) type Told = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The connection that a request came by. Whoever answers with something that goes on, a stream or a socket, keeps
/// this as long as it does: it counts as a connection until then, and it is told when to end.
#[derive(Clone)]
pub(crate) struct Connection(Option<Held>);

#[derive(Clone)]
struct Held {
    _place: Arc<OwnedSemaphorePermit>,
    stopped: watch::Receiver<bool>,
}

impl Connection {
    /// Resolves when the listener is told to stop; never for a request that came by none.
    pub(crate) async fn is_to_end(&mut self) {
        match &mut self.0 {
            Some(held) => drop(held.stopped.wait_for(|stop| *stop).await),
            None => std::future::pending().await,
        }
    }
}

impl<S: Sync> FromRequestParts<S> for Connection {
    type Rejection = Infallible;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(parts.extensions.get::<Held>().cloned()))
    }
}

/// Serves `router` on a bound listener.
pub fn serve(listener: TcpListener, router: Router, limits: Limits) -> std::io::Result<Serving> {
    let address = listener.local_addr()?;
    let (stop, stopped) = watch::channel(false);
    let done = tokio::spawn(accept(listener, router, limits, stopped));
    Ok(Serving { address, stop, done })
}

async fn accept(listener: TcpListener, router: Router, limits: Limits, mut stopped: watch::Receiver<bool>) {
    let room = Arc::new(Semaphore::new(limits.max_connections));
    let graceful = GracefulShutdown::new();
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(limits.header_read).max_buf_size(64 * 1024);
    loop {
        // When no place is free, being told to stop must not have to wait for one.
        let place = tokio::select! {
            place = Arc::clone(&room).acquire_owned() => place,
            _ = stopped.wait_for(|stop| *stop) => break,
        };
        let Ok(place) = place else { break };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopped.wait_for(|stop| *stop) => break,
        };
        let Ok((stream, peer)) = accepted else { continue };
        let _kept_small = stream.set_nodelay(true);
        let held = Held { _place: Arc::new(place), stopped: stopped.clone() };
        let of_request = held.clone();
        let service = router.clone().map_request(move |mut request: http::Request<hyper::body::Incoming>| {
            request.extensions_mut().insert(axum::extract::ConnectInfo(peer));
            request.extensions_mut().insert(of_request.clone());
            request.map(axum::body::Body::new)
        });
        let service = TowerToHyperService::new(service);
        let connection = builder.serve_connection_with_upgrades(TokioIo::new(stream), service).into_owned();
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            let _ended = connection.await;
            drop(held);
        });
    }
    let finished = async {
        graceful.shutdown().await;
        all_gone(&room, limits.max_connections).await;
    };
    tokio::select! {
        () = finished => {}
        () = tokio::time::sleep(Duration::from_secs(10)) => tracing::warn!("some requests did not finish in time"),
    }
}

/// A connection that became a socket is no longer hyper's to wait for, but it still has its place.
async fn all_gone(room: &Semaphore, places: usize) {
    let _all = room.acquire_many(u32::try_from(places).unwrap_or(u32::MAX)).await;
}
