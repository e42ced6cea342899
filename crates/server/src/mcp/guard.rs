//! Host and origin checks: only Countersign's own host names, and no unlisted cross-origin page.
//!
//! DNS rebinding: a page that a person has open can point its own host name at this machine. The `Host` and `Origin`
//! headers give it away.

use crate::{
    App,
    config::node::Mcp,
    http::{answer, caller::is_ours, request_id::RequestId},
};
use axum::{
    extract::{ConnectInfo, Request, State},
    response::{IntoResponse as _, Response},
};
use countersign_protocol::aap::error::Code;
use http::{HeaderName, HeaderValue, StatusCode, header, request::Parts, uri::Authority};
use std::net::{IpAddr, SocketAddr};

/// The allowed cross-origin page of the request, if any.
pub(super) struct McpPageOrigin(Option<HeaderValue>);

/// Why a request is refused here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Outsider {
    #[error("the host of this request is not a name of this service")]
    Host,
    #[error("a page of this origin may not use this address")]
    Origin,
}

/// Runs before the credential check, so these refusals reveal nothing about the credential.
pub(super) fn check(app: &App, parts: &Parts) -> Result<McpPageOrigin, Outsider> {
    if !is_our_host(app, parts) {
        return Err(Outsider::Host);
    }
    let Some(origin) = parts.headers.get(header::ORIGIN) else { return Ok(McpPageOrigin(None)) };
    let said = origin.to_str().unwrap_or_default();
    match app.mcp.origins.iter().any(|listed| listed.as_str() == said) {
        true => Ok(McpPageOrigin(Some(origin.clone()))),
        false if is_ours(app, said) => Ok(McpPageOrigin(None)),
        false => Err(Outsider::Origin),
    }
}

impl Outsider {
    pub(super) fn response(self, app: &App, id: &RequestId) -> Response {
        let hint = match self {
            Self::Host => format!("reach it by {}, or have the host listed in mcp.hosts", app.engine.settings().origin),
            Self::Origin => "agents send no Origin; a page of another origin must be listed in mcp.origins".into(),
        };
        answer::plain(Code::NotAuthorized, self.to_string(), Some(hint), id)
    }
}

pub(super) async fn preflight(State(app): State<App>, id: RequestId, request: Request) -> Result<Response, Response> {
    let (parts, _) = request.into_parts();
    let page = check(&app, &parts).map_err(|outsider| outsider.response(&app, &id))?;
    let mut response = StatusCode::NO_CONTENT.into_response();
    let may: [(HeaderName, &'static str); 3] = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "POST"),
        (
            header::ACCESS_CONTROL_ALLOW_HEADERS,
            "authorization, dpop, content-type, accept, mcp-protocol-version, mcp-method, mcp-name",
        ),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    response.headers_mut().extend(may.map(|(name, value)| (name, HeaderValue::from_static(value))));
    Ok(page.may_read(response))
}

impl McpPageOrigin {
    /// Adds the CORS header that lets the page read the response.
    pub(super) fn may_read(self, mut response: Response) -> Response {
        let headers = response.headers_mut();
        headers.append(header::VARY, HeaderValue::from_static("origin"));
        if let Self(Some(origin)) = self {
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        }
        response
    }
}

fn is_our_host(app: &App, parts: &Parts) -> bool {
    let mut said = parts.headers.get_all(header::HOST).iter();
    let host = match (said.next(), said.next()) {
        (Some(host), None) => host.to_str().ok(),
        (None, _) => parts.uri.authority().map(Authority::as_str),
        // Two `Host` headers are ambiguous.
        (Some(_), Some(_)) => None,
    };
    let Some(host) = host.map(str::to_ascii_lowercase) else { return false };
    is_ours_by_name(app, &host) || app.mcp.hosts.contains(&host) || (is_loopback_name(&host) && is_from_here(parts))
}

fn is_ours_by_name(app: &App, host: &str) -> bool {
    let settings = app.engine.settings();
    let ours = settings.origin.authority();
    host == ours || (settings.subdomains && host.ends_with(&format!(".{ours}")))
}

/// No cross-origin page can have such a name.
fn is_loopback_name(host: &str) -> bool {
    let Ok(authority) = host.parse::<Authority>() else { return false };
    let name = authority.host().trim_start_matches('[').trim_end_matches(']');
    name == "localhost" || name.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

fn is_from_here(parts: &Parts) -> bool {
    let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
    peer.is_some_and(|ConnectInfo(peer)| peer.ip().to_canonical().is_loopback())
}

impl Mcp {
    /// Host names are case-insensitive.
    pub(crate) fn in_lower_case(mut self) -> Self {
        self.hosts.iter_mut().for_each(|host| host.make_ascii_lowercase());
        self
    }
}
