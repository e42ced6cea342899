//! The protocol's own endpoints on the gateway's origin: what a challenged agent follows must lead somewhere (AAP 3).

use super::{
    Shared,
    bodies::{Broken, ToCaller},
    guard::Turn,
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

/// Answers requests to the paths that no route may have, other than those of `/.countersign`.
pub type Endpoints = Arc<dyn Fn(Request<Incoming>) -> BoxFuture<'static, Response<BoxBody>> + Send + Sync>;

/// How a request came to the gateway's listener; an extension of each that its endpoints get.
#[derive(Clone, Debug)]
pub struct AtGateway {
    pub address: Address,
    pub peer: SocketAddr,
}

impl Shared {
    /// The endpoints, and where the request arrived, if it is one for them.
    pub(super) fn endpoint(&self, request: &Request<Incoming>) -> Option<(&Endpoints, Address)> {
        let endpoints = self.endpoints.as_ref()?;
        reserved(request.uri().path()).filter(|pattern| !pattern.starts_with("/.countersign"))?;
        // A host that is not ours is refused like any call.
        let (address, _) = host::addressed(&self.settings, request.headers(), request.uri()).ok()?;
        Some((endpoints, address))
    }
}

pub(super) async fn answer(
    endpoints: &Endpoints,
    mut request: Request<Incoming>,
    at: AtGateway,
    turn: Turn,
) -> Response<ToCaller> {
    let upgrades = request.headers().contains_key(header::UPGRADE);
    request.extensions_mut().insert(at);
    let response = endpoints(request).await;
    let mut response = response.map(|body| ToCaller::own(body.map_err(|_| Broken::Off).boxed_unsync()));
    if upgrades {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response.body_mut().turn = Some(turn);
    response
}
