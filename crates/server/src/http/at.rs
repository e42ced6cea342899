//! The extractor for the project of a request: by path, by host, or the only one.

use super::answer::RefusalResponse;
use crate::App;
use axum::extract::{FromRequestParts, RawPathParams, rejection::RawPathParamsRejection};
use countersign_engine::{Address, ListenerKind, ProjectAt, Refusal};
use countersign_gateway::AtGateway;
use http::{HeaderMap, header, request::Parts, uri::Uri};
use std::convert::Infallible;

pub(crate) struct AtProject(pub(crate) ProjectAt);

impl FromRequestParts<App> for AtProject {
    type Rejection = RefusalResponse;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, RefusalResponse> {
        let Arrival { listener, address } = Arrival::of(parts, app);
        let address = match (project_param(parts, app).await?, address) {
            // On a project's own host there is no other project.
            (Some(id), Address::Subdomain(host)) if id != host => return Err(Refusal::ProjectNotFound.into()),
            (Some(id), _) => Address::Scoped(id),
            (None, by_host) => by_host,
        };
        Ok(Self(app.engine.project_at(listener, &address).await?))
    }
}

/// The listener at which a request arrived, and the project named by its host.
pub(crate) struct Arrival {
    pub(crate) listener: ListenerKind,
    pub(crate) address: Address,
}

impl Arrival {
    fn of(parts: &Parts, app: &App) -> Self {
        match parts.extensions.get::<AtGateway>() {
            Some(AtGateway { address, .. }) => Self { listener: ListenerKind::Gateway, address: address.clone() },
            None => Self { listener: ListenerKind::Public, address: by_host(app, &parts.headers, &parts.uri) },
        }
    }
}

impl FromRequestParts<App> for Arrival {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        Ok(Self::of(parts, app))
    }
}

/// The path parameter `{projectId}`, if the route has one. An id that is not UTF-8 belongs to no project.
async fn project_param(parts: &mut Parts, app: &App) -> Result<Option<String>, Refusal> {
    match RawPathParams::from_request_parts(parts, app).await {
        Ok(params) => Ok(params.iter().find(|(name, _)| *name == "projectId").map(|(_, id)| id.to_owned())),
        Err(RawPathParamsRejection::InvalidUtf8InPathParam(_)) => Err(Refusal::ProjectNotFound),
        Err(_) => Ok(None),
    }
}

/// A path parameter; `None` if the path is not valid UTF-8.
pub(crate) async fn path_param(parts: &mut Parts, app: &App, name: &str) -> Option<String> {
    let params = RawPathParams::from_request_parts(parts, app).await.ok()?;
    params.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_owned())
}

/// The project of the request's subdomain, if subdomains are on.
pub(crate) fn by_host(app: &App, headers: &HeaderMap, uri: &Uri) -> Address {
    let settings = app.engine.settings();
    let host = headers.get(header::HOST).and_then(|v| v.to_str().ok());
    let host = host.or_else(|| uri.authority().map(http::uri::Authority::as_str)).unwrap_or_default();
    let suffix = format!(".{}", settings.origin.authority());
    match host.to_ascii_lowercase().strip_suffix(&suffix) {
        Some(label) if settings.subdomains => Address::Subdomain(label.to_owned()),
        _ => Address::Unscoped,
    }
}
