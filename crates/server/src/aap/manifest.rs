//! `GET /.well-known/agent-auth.json` (AAP 3, 3.1)

use crate::{
    App,
    http::{answer::Refused, at::by_host},
};
use axum::{
    extract::{OriginalUri, Query, State},
    response::{IntoResponse, Response},
};
use countersign_engine::{Address, ProjectAt, Refusal, Tenancy};
use countersign_protocol::aap::error::Envelope;
use countersign_protocol::aap::manifest::Manifest;
use http::{HeaderMap, HeaderValue, header};

#[derive(serde::Deserialize)]
pub(crate) struct Asked {
    #[serde(rename = "projectId")]
    project_id: Option<String>,
}

#[utoipa::path(
    get,
    path = "/.well-known/agent-auth.json",
    tag = "discovery",
    summary = "The discovery manifest",
    params(("projectId" = Option<String>, Query, description = "The project, on an installation with several")),
    responses((status = 200, description = "What the service offers and demands", body = Manifest), (status = "4XX", description = "Refused: the envelope says why and what to do", body = Envelope), (status = "5XX", description = "Trouble on our side", body = Envelope))
)]
pub(crate) async fn get(
    State(app): State<App>,
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
    Query(asked): Query<Asked>,
) -> Result<Response, Refused> {
    let manifest = resolve(&app, by_host(&app, &headers, &uri), asked.project_id).await?;
    let mut response = axum::Json(manifest).into_response();
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=60"));
    Ok(response)
}

/// A page for people beside the manifest, where the project has one.
#[utoipa::path(
    get,
    path = "/.well-known/agent-auth.txt",
    tag = "discovery",
    summary = "The page for people beside the manifest",
    params(("projectId" = Option<String>, Query, description = "The project, on an installation with several")),
    responses((status = 200, description = "Text", body = String), (status = "4XX", description = "Refused: the envelope says why and what to do", body = Envelope), (status = "5XX", description = "Trouble on our side", body = Envelope))
)]
pub(crate) async fn companion(
    State(app): State<App>,
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
    Query(asked): Query<Asked>,
) -> Result<String, Refused> {
    let at = named(&app, by_host(&app, &headers, &uri), asked.project_id.as_deref()).await?;
    let text =
        at.project.document.companion.ok_or_else(|| Refusal::NotFound("this project has no such page".into()))?;
    Ok(text)
}

async fn resolve(app: &App, by_host: Address, asked: Option<String>) -> Result<Manifest, Refusal> {
    let multi = app.engine.settings().tenancy == Tenancy::Multi;
    if multi && by_host == Address::Unscoped && asked.is_none() {
        return Ok(app.engine.platform_manifest());
    }
    Ok(named(app, by_host, asked.as_deref()).await?.manifest(asked.is_some()))
}

/// Whoever names a project gets that one or none.
pub(crate) async fn named(app: &App, by_host: Address, asked: Option<&str>) -> Result<ProjectAt, Refusal> {
    let multi = app.engine.settings().tenancy == Tenancy::Multi;
    let address = match (by_host, asked) {
        (Address::Unscoped, Some(id)) if multi => Address::Scoped(id.to_owned()),
        (by_host, _) => by_host,
    };
    let at = app.engine.project(&address).await?;
    if asked.is_none_or(|id| id == at.project.id.as_str()) { Ok(at) } else { Err(Refusal::ProjectNotFound) }
}
