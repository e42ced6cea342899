//! The client's address, for throttling only. `X-Forwarded-For` is trusted only from the configured proxies.

use crate::App;
use axum::extract::{ConnectInfo, FromRequestParts};
use countersign_gateway::{AtGateway, source};
use http::{HeaderMap, request::Parts};
use std::{
    convert::Infallible,
    net::{IpAddr, SocketAddr},
};

/// An IPv4 address, or the /64 of an IPv6 one, which a client cannot change at will.
pub(crate) struct SourceNetwork(pub(crate) String);

impl FromRequestParts<App> for SourceNetwork {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        let at_gateway = || parts.extensions.get::<AtGateway>().map(|at| at.peer);
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0).or_else(at_gateway);
        let peer = peer.map(|peer| peer.ip());
        let Some(peer) = peer else { return Ok(Self("unknown".into())) };
        let trusted = app.trusted_proxies.iter().any(|network| network.contains(peer));
        let address = if trusted { forwarded_for(&parts.headers).unwrap_or(peer) } else { peer };
        Ok(Self(source(address).to_string()))
    }
}

/// The last hop that a trusted proxy reports.
fn forwarded_for(headers: &HeaderMap) -> Option<IpAddr> {
    let last = headers.get_all("x-forwarded-for").iter().next_back()?.to_str().ok()?;
    last.rsplit(',').next()?.trim().parse().ok()
}
