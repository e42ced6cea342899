//! Listening: limits on every connection, and an end that lets requests under way finish.

use axum::Router;
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::{conn::auto, graceful::GracefulShutdown},
    service::TowerToHyperService,
};
use std::{net::SocketAddr, sync::Arc, time::Duration};
use tokio::{
    net::TcpListener,
    sync::{Semaphore, watch},
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

    /// Takes no more connections, lets requests under way finish for up to ten seconds, and is over.
    pub async fn stop(self) {
        let _told = self.stop.send(true);
        let _ended = self.done.await;
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
        let service = router.clone().map_request(move |mut request: http::Request<hyper::body::Incoming>| {
            request.extensions_mut().insert(axum::extract::ConnectInfo(peer));
            request.map(axum::body::Body::new)
        });
        let connection = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(service)).into_owned();
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            let _ended = connection.await;
            drop(place);
        });
    }
    tokio::select! {
        () = graceful.shutdown() => {}
        () = tokio::time::sleep(Duration::from_secs(10)) => tracing::warn!("some requests did not finish in time"),
    }
}
