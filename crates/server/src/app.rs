//! The application: the state shared by handlers, and the router.

use crate::{
    aaep::{self, LegacyDoor},
    aap, clarification, config, evidence_log,
    http::{layers, request_id, version},
    mcp, mplp,
    observe::Metrics,
    people, project, scim,
    serve::Limits,
    ssf, v1, web,
};
use axum::{Router, middleware};
use countersign_engine::{Address, Engine};
use countersign_gateway::{CountersignLayer, Network, RequestIds};
use countersign_protocol::aap::version::ACCEPTED;
use std::sync::Arc;

/// Shared by all handlers; cheap to clone.
#[derive(Clone)]
pub struct App {
    shared: Arc<AppState>,
    pub(crate) legacy: Arc<LegacyDoor>,
    pub(crate) mcp: Arc<config::node::Mcp>,
}

pub struct AppState {
    pub(crate) engine: Arc<Engine>,
    pub(crate) limits: Limits,
    pub(crate) trusted_proxies: Vec<Network>,
    pub(crate) metrics: Metrics,
    pub(crate) request_ids: RequestIds,
}

impl std::ops::Deref for App {
    type Target = AppState;
    fn deref(&self) -> &AppState {
        &self.shared
    }
}

impl App {
    /// `run` distinguishes the request ids of this run from those of others.
    pub fn new(engine: Arc<Engine>, limits: Limits, trusted_proxies: Vec<Network>, metrics: Metrics, run: u64) -> Self {
        let request_ids = RequestIds::new(run);
        let shared = AppState { engine, limits, trusted_proxies, metrics, request_ids };
        Self { shared: Arc::new(shared), legacy: Arc::default(), mcp: Arc::default() }
    }

    /// Allows further origins and hosts on URLs that contain a subscriber token.
    #[must_use]
    pub fn with_legacy(self, allowed: config::node::Aaep) -> Self {
        Self { legacy: Arc::new(LegacyDoor::new(allowed)), ..self }
    }

    /// Allows further origins and hosts on `/mcp`.
    #[must_use]
    pub fn with_mcp(self, allowed: config::node::Mcp) -> Self {
        Self { mcp: Arc::new(allowed.in_lower_case()), ..self }
    }

    pub fn engine(&self) -> &Arc<Engine> {
        &self.shared.engine
    }
}

/// Everything on the public listener.
pub fn router(app: App) -> Router {
    let nowhere = Router::new().fallback(web::nowhere);
    reading_on(layered(endpoints(&app).merge(nowhere), app))
}

/// The router in front of an API in the same process: every request for another path is a call of that API, decided by
/// the gateway.
pub fn router_in_front_of(api: Router, app: App) -> Router {
    let gateway = CountersignLayer::new(Arc::clone(&app.engine), Address::Unscoped);
    reading_on(layered(endpoints(&app), app).fallback_service(api.layer(gateway)))
}

/// The endpoints on the gateway's origin beside the upstream API: the manifest and the endpoints it names.
pub(crate) fn router_at_gateway(app: App) -> Router {
    reading_on(layered(aap::router(), app))
}

/// Outermost, so that it sees every response.
fn reading_on(router: Router) -> Router {
    router.layer(middleware::from_fn(layers::unread))
}

fn endpoints(app: &App) -> Router<App> {
    Router::new()
        .merge(aap::router())
        .merge(aaep::router())
        .merge(people::router())
        .merge(scim::router())
        .merge(ssf::router())
        .route("/openapi.json", axum::routing::get(|| async { axum::Json(crate::openapi::description()) }))
        .merge(project::router())
        .merge(evidence_log::router())
        .merge(v1::router())
        .merge(mplp::router())
        .merge(clarification::router())
        .merge(mcp::router())
        .merge(web::router(app))
}

fn layered(router: Router<App>, app: App) -> Router {
    router
        .layer(middleware::from_fn_with_state(app.clone(), layers::envelope))
        .layer(middleware::from_fn_with_state(ACCEPTED, version::headers))
        .layer(middleware::from_fn_with_state(app.clone(), request_id::name))
        .with_state(app)
}
