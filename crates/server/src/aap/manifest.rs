//! `GET /.well-known/agent-auth.json` (AAP 3, 3.1)

use crate::{
    App,
    http::{
        answer::{ErrorResponses, RefusalResponse},
        at::Arrival,
    },
};
use axum::{
    extract::{Query, State},
    response::{IntoResponse, Response},
};
use countersign_engine::{Address, ProjectAt, Refusal, Tenancy};
use countersign_protocol::aap::manifest::Manifest;
use http::{HeaderValue, header};

#[derive(serde::Deserialize)]
pub(crate) struct AapManifestQuery {
    #[serde(rename = "projectId")]
    project_id: Option<String>,
}

#[utoipa::path(
    get, path = "/.well-known/agent-auth.json", tag = "discovery",
    summary = "The discovery manifest",
    params(("projectId" = Option<String>, Query, description = "The project, on an installation with several")),
    responses((status = 200, description = "The offers and requirements of the service", body = Manifest), ErrorResponses),
)]
pub(crate) async fn get(
    State(app): State<App>,
    arrival: Arrival,
    Query(asked): Query<AapManifestQuery>,
) -> Result<Response, RefusalResponse> {
    let manifest = resolve(&app, arrival, asked.project_id).await?;
    let mut response = axum::Json(manifest).into_response();
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=60"));
    Ok(response)
}

/// A page for people beside the manifest, where the project has one.
#[utoipa::path(
    get, path = "/.well-known/agent-auth.txt", tag = "discovery",
    summary = "The page for people that accompanies the manifest",
    params(("projectId" = Option<String>, Query, description = "The project, on an installation with several")),
    responses((status = 200, description = "Text", body = String), ErrorResponses),
)]
pub(crate) async fn companion(
    State(app): State<App>,
    arrival: Arrival,
    Query(asked): Query<AapManifestQuery>,
) -> Result<String, RefusalResponse> {
    let at = requested_project(&app, arrival, asked.project_id.as_deref()).await?;
    let text = at
        .project
        .document
        .companion
        .clone()
        .ok_or_else(|| Refusal::NotFound("this project has no such page".into()))?;
    Ok(text)
}

async fn resolve(app: &App, arrival: Arrival, asked: Option<String>) -> Result<Manifest, Refusal> {
    let multi = app.engine.settings().tenancy == Tenancy::Multi;
    if multi && arrival.address == Address::Unscoped && asked.is_none() {
        return Ok(app.engine.platform_manifest(arrival.listener));
    }
    Ok(requested_project(app, arrival, asked.as_deref()).await?.manifest(asked.is_some()))
}

/// A request that names a project gets that project or none.
pub(crate) async fn requested_project(app: &App, arrival: Arrival, asked: Option<&str>) -> Result<ProjectAt, Refusal> {
    let multi = app.engine.settings().tenancy == Tenancy::Multi;
    let address = match (arrival.address, asked) {
        (Address::Unscoped, Some(id)) if multi => Address::Scoped(id.to_owned()),
        (by_host, _) => by_host,
    };
    let at = app.engine.project_at(arrival.listener, &address).await?;
    if asked.is_none_or(|id| id == at.project.id.as_str()) { Ok(at) } else { Err(Refusal::ProjectNotFound) }
}
