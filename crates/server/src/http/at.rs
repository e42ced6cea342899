//! Which project a request is for: by path, by host, or the only one.

use super::answer::Refused;
use crate::App;
use axum::extract::{FromRequestParts, RawPathParams};
use countersign_engine::{Address, ProjectAt};
use http::{HeaderMap, header, request::Parts, uri::Uri};

pub(crate) struct At(pub(crate) ProjectAt);

impl FromRequestParts<App> for At {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Refused> {
        let named = match RawPathParams::from_request_parts(parts, app).await {
            Ok(params) => params.iter().find(|(name, _)| *name == "projectId").map(|(_, id)| id.to_owned()),
            Err(_) => None,
        };
        let address = match named {
            Some(id) => Address::Scoped(id),
            None => by_host(app, &parts.headers, &parts.uri),
        };
        Ok(Self(app.engine.project(&address).await?))
    }
}

/// The project whose subdomain was asked, if projects have subdomains here.
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
