//! `GET /.well-known/agent-auth.json` (AAP 3, 3.1)

use crate::{
    App,
    http::{answer::Refused, at::by_host},
};
use axum::{
    extract::{OriginalUri, Query, State},
    response::{IntoResponse, Response},
};
use countersign_engine::{Address, Refusal, Tenancy};
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
    let address = asked.project_id.map_or_else(|| by_host(&app, &headers, &uri), Address::Scoped);
    let at = app.engine.project(&address).await?;
    let text =
        at.project.document.companion.ok_or_else(|| Refusal::NotFound("this project has no such page".into()))?;
    Ok(text)
}

async fn resolve(app: &App, by_host: Address, asked: Option<String>) -> Result<Manifest, Refusal> {
    let multi = app.engine.settings().tenancy == Tenancy::Multi;
    match (by_host, asked) {
        (Address::Unscoped, None) if multi => Ok(app.engine.platform_manifest()),
        (Address::Unscoped, Some(id)) if multi => Ok(app.engine.project(&Address::Scoped(id)).await?.manifest(true)),
        (address, asked) => {
            let at = app.engine.project(&address).await?;
            // Whoever names a project gets that one or none.
            if asked.as_ref().is_some_and(|id| id != at.project.id.as_str()) {
                return Err(Refusal::ProjectNotFound);
            }
            Ok(at.manifest(asked.is_some()))
        }
    }
}
