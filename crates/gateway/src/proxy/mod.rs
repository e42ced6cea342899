//! The reverse proxy: HTTP/1.1 in and out, every call decided by the engine before it is forwarded.

mod bodies;
mod collect;
mod endpoints;
mod exchange;
mod flow;
mod guard;
mod host;
mod listen;

mod own_requests;
mod pump;
mod queued;
mod settings;
mod upstream;
mod websocket;

pub(crate) use collect::whole as whole_body;
pub use endpoints::{AtGateway, Endpoints};
pub(crate) use pump::{Pumping, pump};
pub use settings::{GatewaySettings, UpstreamCredential};
pub use upstream::{BadDestination, BadRoots, Destination};

use crate::request_ids::RequestIds;
use countersign_engine::Engine;
use own_requests::OwnRequests;
use queued::ProxySender;
use std::{future::Future, sync::Arc};
use tokio::net::TcpListener;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use upstream::Pool;

/// An enforcement point with a listener of its own, in front of services that need no changes.
#[derive(Clone)]
pub struct Gateway {
    shared: Arc<ProxyState>,
}

struct ProxyState {
    engine: Arc<Engine>,
    settings: GatewaySettings,
    pool: Arc<Pool>,
    endpoints: Option<Endpoints>,
    request_ids: RequestIds,
    /// Connections, writes that may have lost their caller, and streams.
    under_way: TaskTracker,
    /// Stops new connections and ends streams.
    stopping: CancellationToken,
    /// Ends everything.
    over: CancellationToken,
}

impl Gateway {
    pub fn new(engine: Arc<Engine>, settings: GatewaySettings) -> Result<Self, BadRoots> {
        Self::build(engine, settings, None)
    }

    /// Adds the protocol's endpoints to the gateway's origin, so that an agent needs to know no other.
    pub fn with_endpoints(
        engine: Arc<Engine>,
        settings: GatewaySettings,
        endpoints: Endpoints,
    ) -> Result<Self, BadRoots> {
        Self::build(engine, settings, Some(endpoints))
    }

    fn build(engine: Arc<Engine>, settings: GatewaySettings, endpoints: Option<Endpoints>) -> Result<Self, BadRoots> {
        let pool = Arc::new(Pool::new(&settings.extra_roots)?);
        engine.decisions().use_upstream_requests(Arc::new(OwnRequests::new(Arc::clone(&pool), settings.clone())));
        let shared = ProxyState {
            pool,
            endpoints,
            request_ids: RequestIds::new(engine.now().0.unsigned_abs()),
            engine,
            settings,
            under_way: TaskTracker::new(),
            stopping: CancellationToken::new(),
            over: CancellationToken::new(),
        };
        let shared = Arc::new(shared);
        shared.engine.calls().use_queued_sender(Arc::new(ProxySender(Arc::downgrade(&shared))));
        Ok(Self { shared })
    }

    /// Serves until `shutdown` resolves, then lets open requests finish within the drain time.
    pub async fn serve(self, listener: TcpListener, shutdown: impl Future<Output = ()>) {
        listen::serve(self.shared, listener, shutdown).await;
    }
}
