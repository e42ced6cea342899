//! Accepting connections, and a shutdown that lets open requests finish.

use super::{
    GatewaySettings, ProxyState,
    endpoints::{self, AtGateway},
    flow,
    guard::{Guard, MAX_HEADERS, Patience, Wire},
};
use crate::accept::{Accepted, Acceptor, ConnectionLimits, CountedConnection, sends_data};
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use std::{convert::Infallible, future::Future, sync::Arc};
use tokio::net::TcpListener;

pub(super) async fn serve(shared: Arc<ProxyState>, listener: TcpListener, shutdown: impl Future<Output = ()>) {
    let sweeping = shared.under_way.spawn(sweep(Arc::clone(&shared)));
    let acceptor = Acceptor::new(listener, limits(&shared.settings));
    tokio::select! {
        () = accept(&shared, &acceptor) => {}
        () = shutdown => {}
    }
    drop(acceptor);
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

fn limits(settings: &GatewaySettings) -> ConnectionLimits {
    ConnectionLimits {
        total: settings.max_connections,
        per_address: settings.max_connections_per_address,
        trusted_proxies: settings.trusted_proxies.clone(),
    }
}

async fn accept(shared: &Arc<ProxyState>, acceptor: &Acceptor) {
    loop {
        let accepted = acceptor.accept().await;
        shared.under_way.spawn(connection(Arc::clone(shared), accepted));
    }
}

async fn connection(shared: Arc<ProxyState>, accepted: Accepted) {
    let Accepted { stream, peer, place, address_place } = accepted;
    let settings = &shared.settings;
    let speaks = tokio::select! {
        speaks = sends_data(&stream, settings.first_byte_timeout.min(settings.idle_timeout)) => speaks,
        () = shared.stopping.cancelled() => false,
    };
    if !speaks {
        return;
    }
    let patience = Patience {
        max_head_bytes: settings.max_header_bytes,
        head: settings.header_timeout,
        idle: settings.idle_timeout,
    };
    let wire = Arc::new(Wire::default());
    let guarded = Guard::new(CountedConnection::new(stream, address_place), patience, Arc::clone(&wire));
    let place = Arc::new(place);
    let service = service_fn(|request| {
        // Taken at once: the guard may soon check the next request.
        let (refused, turn) = (wire.refusal(), wire.turn());
        let (shared, place) = (Arc::clone(&shared), Arc::clone(&place));
        async move {
            let own = if refused.is_none() { shared.endpoint(&request) } else { None };
            Ok::<_, Infallible>(match own {
                Some((own, address)) => endpoints::answer(own, request, AtGateway { address, peer }, turn).await,
                None => flow::answer(Arc::clone(&shared), request, refused, turn, (peer.ip(), place)).await,
            })
        }
    });
    let mut builder = http1::Builder::new();
    // The guard has enforced sizes and timeouts already; these settings only must not be stricter.
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

/// Closes upstream connections that were idle for a while.
async fn sweep(shared: Arc<ProxyState>) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(shared.settings.idle_timeout / 2) => shared.pool.sweep(),
            () = shared.stopping.cancelled() => return,
        }
    }
}
