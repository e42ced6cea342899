//! Idle upstream connections.

use super::{BadDestination, BadRoots, Destination, UpstreamConnection, dial};
use http::HeaderValue;
use std::{
    collections::HashMap,
    io,
    sync::{Arc, Mutex, PoisonError, RwLock},
};
use tokio_rustls::TlsConnector;

/// Connections beyond this number are closed instead of kept.
const MAX_IDLE: usize = 256;

pub(crate) struct Pool {
    tls: TlsConnector,
    sites: RwLock<HashMap<String, Arc<Site>>>,
}

/// An upstream and its idle connections.
pub(crate) struct Site {
    pub(crate) destination: Destination,
    /// Its name in `Host`.
    pub(crate) host: HeaderValue,
    /// Its name as the audience of signed statements.
    pub(crate) audience: String,
    idle: Mutex<Vec<Idle>>,
}

struct Idle {
    connection: UpstreamConnection,
    /// Whether an earlier sweep has seen it idle.
    seen: bool,
}

impl Pool {
    pub(crate) fn new(extra_roots_pem: &[u8]) -> Result<Self, BadRoots> {
        Ok(Self { tls: dial::connector(extra_roots_pem)?, sites: RwLock::default() })
    }

    /// The upstream at a URL of a project's document.
    pub(crate) fn site(&self, url: &str) -> Result<Arc<Site>, BadDestination> {
        if let Some(site) = self.sites.read().unwrap_or_else(PoisonError::into_inner).get(url) {
            return Ok(Arc::clone(site));
        }
        let destination = Destination::parse(url)?;
        let host = HeaderValue::from_str(&destination.authority).map_err(|_| BadDestination)?;
        let audience = destination.origin();
        let site = Arc::new(Site { destination, host, audience, idle: Mutex::default() });
        let mut sites = self.sites.write().unwrap_or_else(PoisonError::into_inner);
        Ok(Arc::clone(sites.entry(url.to_owned()).or_insert(site)))
    }

    /// An idle connection, or a new one.
    pub(crate) async fn connection(&self, site: &Arc<Site>) -> io::Result<UpstreamConnection> {
        while let Some(mut connection) = site.take() {
            if connection.is_free().await {
                return Ok(connection);
            }
        }
        self.dial(site).await.map(UpstreamConnection::pooled)
    }

    /// A new connection: the upstream may have closed an idle one, and a request sent on it would be lost.
    pub(crate) async fn dial(&self, site: &Arc<Site>) -> io::Result<UpstreamConnection> {
        UpstreamConnection::open(site, &self.tls).await
    }

    /// Closes connections that were idle since the last sweep, and forgets unused upstreams.
    pub(crate) fn sweep(&self) {
        let mut sites = self.sites.write().unwrap_or_else(PoisonError::into_inner);
        sites.retain(|_, site| {
            site.sweep();
            Arc::strong_count(site) > 1 || !site.is_empty()
        });
    }
}

impl Site {
    /// The most recently used one: it is the least likely to have been closed.
    fn take(&self) -> Option<UpstreamConnection> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        std::iter::from_fn(|| idle.pop()).map(|idle| idle.connection).find(|connection| !connection.is_closed())
    }

    pub(super) fn put_back(&self, connection: UpstreamConnection) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MAX_IDLE && !connection.is_closed() {
            idle.push(Idle { connection, seen: false });
        }
    }

    fn sweep(&self) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain_mut(|idle| !std::mem::replace(&mut idle.seen, true) && !idle.connection.is_closed());
    }

    fn is_empty(&self) -> bool {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}
