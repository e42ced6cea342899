//! `/evidence`: the transparency log of a project, in the formats of C2SP tlog-tiles. At the unscoped path and under
//! `/projects/{projectId}`, which is the log's name.

use crate::{
    App,
    http::{
        address::SourceNetwork,
        answer::{ErrorResponses, JsonResult, RefusalResponse},
        at::{AtProject, path_param},
        caller::Asker,
    },
};
use axum::{
    Router,
    extract::{FromRequestParts, State},
    response::{IntoResponse as _, Response},
    routing::get,
};
use countersign_engine::{Actor, LogKey, ProjectAt, Refusal, Role};
use countersign_evidence::{note::VerifierKey, tile::Path};
use countersign_protocol::time::UnixMillis;
use http::{HeaderValue, header, request::Parts};
use serde::Serialize;

pub(crate) fn router() -> Router<App> {
    Router::new().merge(endpoints()).nest("/projects/{projectId}", endpoints())
}

fn endpoints() -> Router<App> {
    Router::new()
        .route("/evidence/checkpoint", get(checkpoint))
        .route("/evidence/tile/{*tile}", get(tile))
        .route("/evidence/keys", get(keys))
}

/// The keys of a log.
#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct EvidenceKeys {
    /// The log's name.
    origin: String,
    /// Oldest first; the last one signs.
    keys: Vec<EvidenceKey>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct EvidenceKey {
    /// The verifier key, as C2SP signed-note has it.
    verifier_key: String,
    created_at: String,
    /// Since then the next key signs.
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced_at: Option<String>,
    /// The predecessor's statement that this key continues it, signed by both.
    #[serde(skip_serializing_if = "Option::is_none")]
    succession: Option<EvidenceKeySuccession>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct EvidenceKeySuccession {
    statement: String,
    /// Ed25519 over the statement, base64url.
    by_predecessor: String,
    by_successor: String,
}

/// A reader that the project's document admits.
pub(crate) struct LogReader {
    at: ProjectAt,
    cache: &'static str,
}

/// The checkpoint is replaced every few seconds, a tile never changes.
const FRESH: &str = "public, max-age=2";
const IMMUTABLE: &str = "public, max-age=31536000, immutable";
const PRIVATE: &str = "no-store";

impl FromRequestParts<App> for LogReader {
    type Rejection = RefusalResponse;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, RefusalResponse> {
        let AtProject(at) = AtProject::from_request_parts(parts, app).await?;
        if at.project.document.evidence.public {
            return Ok(Self { at, cache: IMMUTABLE });
        }
        let Ok(SourceNetwork(source)) = SourceNetwork::from_request_parts(parts, app).await;
        let asker = Asker::from_request_parts(parts, app).await?;
        let may_read = match asker.reader(app, &at, &source).await? {
            Actor::Person(member) => member.has_role(Role::Auditor) || member.has_role(Role::Admin),
            Actor::AdminKey(key) => key.project == at.project.key,
            _ => false,
        };
        match may_read {
            true => Ok(Self { at, cache: PRIVATE }),
            false => Err(Refusal::NotAuthorized("only auditors of the project may read its log".into()).into()),
        }
    }
}

#[utoipa::path(
    get, path = "/evidence/checkpoint", tag = "evidence", security((), ("session" = []), ("bearer" = [])),
    summary = "The newest signed checkpoint of the evidence, with the cosignatures of witnesses",
    params(("Aap-Version" = Option<String>, Header, description = "The protocol version; required with an agent's or operator's credentials")),
    responses((status = 200, description = "A signed note (C2SP tlog-checkpoint)", body = String, content_type = "text/plain"), ErrorResponses),
)]
pub(crate) async fn checkpoint(State(app): State<App>, reader: LogReader) -> Result<Response, RefusalResponse> {
    let checkpoint = app.engine.evidence().checkpoint(reader.at.project.key).await.map_err(Refusal::from)?;
    let cache = if reader.cache == IMMUTABLE { FRESH } else { reader.cache };
    Ok(bytes("text/plain; charset=utf-8", cache, checkpoint.note.into_bytes()))
}

#[utoipa::path(
    get, path = "/evidence/tile/{tile}", tag = "evidence", security((), ("session" = []), ("bearer" = [])),
    summary = "A tile of the log's tree, or the entries below one",
    params(("tile" = String, Path, description = "`LEVEL/NUMBER` or `entries/NUMBER`, with `.p/WIDTH` for a partial one, as in C2SP tlog-tiles: it has further slashes"),
        ("Aap-Version" = Option<String>, Header, description = "The protocol version; required with an agent's or operator's credentials")),
    responses((status = 200, description = "Hashes of 32 bytes each, or entries with their lengths", body = Vec<u8>, content_type = "application/octet-stream"), ErrorResponses),
)]
pub(crate) async fn tile(
    State(app): State<App>,
    reader: LogReader,
    TilePath(path): TilePath,
) -> Result<Response, RefusalResponse> {
    let (evidence, project) = (app.engine.evidence(), reader.at.project.key);
    let found = match path {
        Path::Hashes(tile) => evidence.tile(project, tile).await,
        Path::Entries(tile) => evidence.entry_bundle(project, tile).await,
    };
    Ok(bytes("application/octet-stream", reader.cache, found.map_err(Refusal::from)?))
}

#[utoipa::path(
    get, path = "/evidence/keys", tag = "evidence",
    summary = "The keys that verify the log's checkpoints",
    responses((status = 200, description = "All keys of the log, oldest first", body = EvidenceKeys), ErrorResponses),
)]
pub(crate) async fn keys(State(app): State<App>, AtProject(at): AtProject) -> JsonResult<EvidenceKeys> {
    let keys = app.engine.evidence().verifier_keys(at.project.key).await.map_err(Refusal::from)?;
    let origin = keys.first().map(|(verifier, _)| verifier.name.clone()).unwrap_or_default();
    let key = |(verifier, row): (VerifierKey, LogKey)| EvidenceKey {
        verifier_key: verifier.to_string(),
        created_at: row.created_at.to_rfc3339(),
        replaced_at: row.replaced_at.map(UnixMillis::to_rfc3339),
        succession: row.succession.map(|succession| EvidenceKeySuccession {
            statement: succession.statement,
            by_predecessor: succession.by_predecessor.to_string(),
            by_successor: succession.by_successor.to_string(),
        }),
    };
    Ok(axum::Json(EvidenceKeys { origin, keys: keys.into_iter().map(key).collect() }))
}

/// The part of a path after `tile/`. Every tile has one spelling.
pub(crate) struct TilePath(Path);

impl FromRequestParts<App> for TilePath {
    type Rejection = RefusalResponse;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, RefusalResponse> {
        let path = path_param(parts, app, "tile").await.and_then(|text| Path::parse(&text));
        path.map(Self).ok_or_else(|| Refusal::NotFound("the log has no such tile".into()).into())
    }
}

fn bytes(kind: &'static str, cache: &'static str, body: Vec<u8>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CACHE_CONTROL, HeaderValue::from_static(cache)),
    ];
    (headers, body).into_response()
}
