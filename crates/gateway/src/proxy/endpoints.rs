//! The protocol's own endpoints on the gateway's origin, so that the links in a challenge work there (AAP 3).

use super::{
    ProxyState,
    bodies::{Broken, ToCaller},
    guard::ResponseTurn,
    host,
};
use crate::layer::BoxBody;
use countersign_engine::Address;
use countersign_protocol::project::reserved;
use futures_util::future::BoxFuture;
use http::{HeaderValue, Request, Response, header};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use std::{net::SocketAddr, sync::Arc};

/// Handles requests to the paths reserved from routes, other than those below `/.countersign`.
pub type Endpoints = Arc<dyn Fn(Request<Incoming>) -> BoxFuture<'static, Response<BoxBody>> + Send + Sync>;

/// How a request reached the gateway's listener; an extension of every request to its endpoints.
#[derive(Clone, Debug)]
pub struct AtGateway {
    pub address: Address,
    pub peer: SocketAddr,
}

impl ProxyState {
    /// The endpoints and the project's address, if the request is for them.
    pub(super) fn endpoint(&self, request: &Request<Incoming>) -> Option<(&Endpoints, Address)> {
        let endpoints = self.endpoints.as_ref()?;
        reserved(request.uri().path()).filter(|pattern| !pattern.starts_with("/.countersign"))?;
        // An unknown host is refused like any call.
        let (address, _) = host::resolve(&self.settings, request.headers(), request.uri()).ok()?;
        Some((endpoints, address))
    }
}

pub(super) async fn answer(
    endpoints: &Endpoints,
    mut request: Request<Incoming>,
    at: AtGateway,
    turn: ResponseTurn,
) -> Response<ToCaller> {
    let upgrades = request.headers().contains_key(header::UPGRADE);
    request.extensions_mut().insert(at);
    let response = endpoints(request).await;
    let mut response = response.map(|body| ToCaller::new(body.map_err(|_| Broken::Off)));
    if upgrades {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response.body_mut().turn = Some(turn);
    response
}
