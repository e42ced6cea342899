//! Accepting connections, and an end that lets what is under way finish.

use super::{
    Shared,
    endpoints::{self, AtGateway},
    flow,
    guard::{Guard, MAX_HEADERS, Patience, Wire},
};
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use std::{convert::Infallible, future::Future, net::SocketAddr, sync::Arc, time::Duration};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
};

/// When no connection can be accepted, the reason is rarely gone at once: most often there are no more descriptors.
const AFTER_TROUBLE: Duration = Duration::from_millis(50);

pub(super) async fn serve(shared: Arc<Shared>, listener: TcpListener, shutdown: impl Future<Output = ()>) {
    let sweeping = shared.under_way.spawn(sweep(Arc::clone(&shared)));
    tokio::select! {
        () = accept(&shared, &listener) => {}
        () = shutdown => {}
    }
    drop(listener);
    shared.stopping.cancel();
    shared.under_way.close();
    let drained = async {
        shared.under_way.wait().await;
        shared.engine.drain().await;
    };
    if tokio::time::timeout(shared.settings.drain, drained).await.is_err() {
        tracing::warn!(left = shared.under_way.len(), "some calls did not finish in time");
        shared.over.cancel();
    }
    let _swept = sweeping.await;
}

async fn accept(shared: &Arc<Shared>, listener: &TcpListener) {
    let places = Arc::new(Semaphore::new(shared.settings.max_connections));
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        match listener.accept().await {
            Ok((stream, peer)) => {
                let _kept_small = stream.set_nodelay(true);
                shared.under_way.spawn(connection(Arc::clone(shared), stream, peer, place));
            }
            Err(why) => {
                tracing::warn!(%why, "a connection could not be accepted");
                tokio::time::sleep(AFTER_TROUBLE).await;
            }
        }
    }
}

async fn connection(shared: Arc<Shared>, stream: TcpStream, peer: SocketAddr, place: OwnedSemaphorePermit) {
    let settings = &shared.settings;
    let patience = Patience {
        max_head_bytes: settings.max_header_bytes,
        head: settings.header_timeout,
        idle: settings.idle_timeout,
    };
    let wire = Arc::new(Wire::default());
    let guarded = Guard::new(stream, patience, Arc::clone(&wire));
    let place = Arc::new(place);
    let service = service_fn(|request| {
        // Taken at once: the guard may soon look at the next request.
        let (refused, turn) = (wire.refusal(), wire.turn());
        let (shared, place) = (Arc::clone(&shared), Arc::clone(&place));
        async move {
            let own = if refused.is_none() { shared.endpoint(&request) } else { None };
            Ok::<_, Infallible>(match own {
                Some((own, address)) => endpoints::answer(own, request, AtGateway { address, peer }, turn).await,
                None => flow::answer(Arc::clone(&shared), request, refused, turn, place).await,
            })
        }
    });
    let mut builder = http1::Builder::new();
    // The guard has looked at sizes and times already; these only must not be stricter.
    builder.max_headers(MAX_HEADERS).max_buf_size(settings.max_header_bytes.max(64 * 1024)).header_read_timeout(None);
    let connection = builder.serve_connection(TokioIo::new(guarded), service).with_upgrades();
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        _ended = connection.as_mut() => return,
        () = shared.over.cancelled() => return,
        () = shared.stopping.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    tokio::select! {
        _ended = connection => {}
        () = shared.over.cancelled() => {}
    }
}

/// Upstream connections that nobody used for a while are closed.
async fn sweep(shared: Arc<Shared>) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(shared.settings.idle_timeout / 2) => shared.pool.sweep(),
            () = shared.stopping.cancelled() => return,
        }
    }
}
