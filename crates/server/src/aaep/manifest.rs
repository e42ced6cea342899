//! `GET /.well-known/aaep-manifest.json`: the producer manifest (AAEP 5.10).

use crate::{
    App,
    aap::manifest::requested_project,
    http::{
        answer::{ErrorResponses, RefusalResponse},
        at::{Arrival, AtProject},
    },
};
use axum::{
    extract::{Query, State},
    response::{IntoResponse, Response},
};
use countersign_engine::{ProjectAt, Refusal};
use countersign_protocol::aaep::manifest::Manifest;
use http::{HeaderMap, HeaderValue, header};

#[derive(serde::Deserialize)]
pub(crate) struct AaepManifestQuery {
    #[serde(rename = "projectId")]
    project_id: Option<String>,
}

#[utoipa::path(
    get, path = "/.well-known/aaep-manifest.json", tag = "discovery",
    summary = "The AAEP producer manifest",
    description = "With Accept: application/jose, the same as a JWS in compact form, signed with a key of /.well-known/agent-jwks.json.",
    params(("projectId" = Option<String>, Query, description = "The project, on an installation with several")),
    responses((status = 200, description = "The emitted events, and how to subscribe", body = Manifest), ErrorResponses),
)]
pub(crate) async fn get(
    State(app): State<App>,
    arrival: Arrival,
    headers: HeaderMap,
    Query(asked): Query<AaepManifestQuery>,
) -> Result<Response, RefusalResponse> {
    let at = requested_project(&app, arrival, asked.project_id.as_deref()).await?;
    Ok(manifest_response(&app, &at, &headers).await?)
}

/// The manifest at the URL that a multi-tenant project names in its handshakes.
pub(crate) async fn of_project(
    State(app): State<App>,
    AtProject(at): AtProject,
    headers: HeaderMap,
) -> Result<Response, RefusalResponse> {
    Ok(manifest_response(&app, &at, &headers).await?)
}

async fn manifest_response(app: &App, at: &ProjectAt, headers: &HeaderMap) -> Result<Response, Refusal> {
    let (manifest, signed) = app.engine.events().aaep_manifest(at).await?;
    let mut response = match wants_signature(headers) {
        true => ([(header::CONTENT_TYPE, HeaderValue::from_static("application/jose"))], signed).into_response(),
        false => axum::Json(manifest).into_response(),
    };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=60"));
    headers.insert(header::VARY, HeaderValue::from_static("accept"));
    Ok(response)
}

fn wants_signature(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|v| v.to_str().ok()).unwrap_or_default();
    let mut kinds = accept.split(',').filter_map(|kind| kind.split(';').next());
    kinds.any(|kind| kind.trim().eq_ignore_ascii_case("application/jose"))
}
