//! Accepting connections within a total and a per-address limit, with growing pauses when accepting fails.

#[cfg(test)]
mod tests;

use crate::network::{Network, source};
use std::{
    collections::HashMap,
    future::Future,
    io,
    net::{IpAddr, SocketAddr},
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
};

/// A failure to accept rarely passes at once: the usual cause is a lack of file descriptors.
const SHORTEST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// How many connections a listener holds open at a time.
#[derive(Clone, Debug)]
pub struct ConnectionLimits {
    pub total: usize,
    /// Of one address; for IPv6 of one /64.
    pub per_address: usize,
    /// Proxies bring many callers, so only the total limits them.
    pub trusted_proxies: Vec<Network>,
}

/// A listener that enforces its limits.
pub struct Acceptor {
    listener: TcpListener,
    places: Arc<Semaphore>,
    addresses: Arc<Addresses>,
}

/// A connection within the limits. It counts while its places are kept.
pub struct Accepted {
    pub stream: TcpStream,
    pub peer: SocketAddr,
    pub place: OwnedSemaphorePermit,
    pub address_place: AddressPlace,
}

impl Acceptor {
    pub fn new(listener: TcpListener, limits: ConnectionLimits) -> Self {
        let places = Arc::new(Semaphore::new(limits.total));
        Self { listener, places, addresses: Arc::new(Addresses { limits, held: Mutex::default() }) }
    }

    /// The next connection. One beyond its address's limit is closed without a response; beyond the total it stays in the backlog.
    pub async fn accept(&self) -> Accepted {
        loop {
            let Ok(place) = Arc::clone(&self.places).acquire_owned().await else { std::future::pending().await };
            let (stream, peer) = accept_with_backoff(|| self.listener.accept()).await;
            if let Some(address_place) = self.addresses.enter(peer.ip()) {
                let _kept_small = stream.set_nodelay(true);
                return Accepted { stream, peer, place, address_place };
            }
        }
    }

    /// Stops accepting. All permits of the semaphore are free again once every connection has ended.
    pub fn close(self) -> Arc<Semaphore> {
        self.places
    }
}

/// Whether the peer sends anything within `time`. Until it does there is no request, in any protocol.
pub async fn sends_data(stream: &TcpStream, time: Duration) -> bool {
    matches!(tokio::time::timeout(time, stream.peek(&mut [0])).await, Ok(Ok(1..)))
}

/// Retries with growing pauses: a process without free descriptors would spin otherwise.
async fn accept_with_backoff<T, F: Future<Output = io::Result<T>>>(mut accept: impl FnMut() -> F) -> T {
    let mut pause = SHORTEST_PAUSE;
    loop {
        match accept().await {
            Ok(accepted) => return accepted,
            Err(why) if is_connection_error(&why) => {}
            Err(why) => {
                tracing::warn!(%why, pause_ms = pause.as_millis(), "no connection can be accepted");
                tokio::time::sleep(pause).await;
                pause = LONGEST_PAUSE.min(pause * 2);
            }
        }
    }
}

/// Errors of a single connection that ended before it was accepted.
fn is_connection_error(why: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(why.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// Open connections per address.
struct Addresses {
    limits: ConnectionLimits,
    held: Mutex<HashMap<IpAddr, Share>>,
}

#[derive(Default)]
struct Share {
    connections: usize,
    /// Whether the address's excess was logged already.
    logged: bool,
}

/// One connection of an address, released on drop.
pub struct AddressPlace(Option<(Arc<Addresses>, IpAddr)>);

impl Addresses {
    fn enter(self: &Arc<Self>, peer: IpAddr) -> Option<AddressPlace> {
        if self.limits.trusted_proxies.iter().any(|proxy| proxy.contains(peer)) {
            return Some(AddressPlace(None));
        }
        let address = source(peer);
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let share = held.entry(address).or_default();
        if share.connections >= self.limits.per_address {
            if !std::mem::replace(&mut share.logged, true) {
                tracing::warn!(
                    %address, connections = share.connections,
                    "an address has all the connections it may have; a proxy of yours belongs into public.trusted_proxies"
                );
            }
            return None;
        }
        share.connections += 1;
        Some(AddressPlace(Some((Arc::clone(self), address))))
    }

    fn release(&self, address: IpAddr) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = held.get_mut(&address) {
            share.connections = share.connections.saturating_sub(1);
            if share.connections == 0 {
                held.remove(&address);
            }
        }
    }
}

impl Drop for AddressPlace {
    fn drop(&mut self) {
        if let Some((addresses, address)) = &self.0 {
            addresses.release(*address);
        }
    }
}

/// A connection together with its place, so that it counts until it is closed, also after an upgrade.
pub struct CountedConnection<P> {
    stream: TcpStream,
    _place: P,
}

impl<P> CountedConnection<P> {
    pub fn new(stream: TcpStream, place: P) -> Self {
        Self { stream, _place: place }
    }
}

impl<P: Unpin> AsyncRead for CountedConnection<P> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl<P: Unpin> AsyncWrite for CountedConnection<P> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
