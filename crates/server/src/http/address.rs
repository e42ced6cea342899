//! The client's address, for throttling only. `X-Forwarded-For` is trusted only from the configured proxies.

use crate::App;
use axum::extract::{ConnectInfo, FromRequestParts};
use countersign_gateway::{AtGateway, client_address, source};
use http::request::Parts;
use std::{convert::Infallible, net::SocketAddr};

/// An IPv4 address, or the /64 of an IPv6 one, which a client cannot change at will.
pub(crate) struct SourceNetwork(pub(crate) String);

impl FromRequestParts<App> for SourceNetwork {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        let at_gateway = || parts.extensions.get::<AtGateway>().map(|at| at.peer);
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0).or_else(at_gateway);
        let peer = peer.map(|peer| peer.ip());
        let Some(peer) = peer else { return Ok(Self("unknown".into())) };
        Ok(Self(source(client_address(peer, &parts.headers, &app.trusted_proxies)).to_string()))
    }
}
