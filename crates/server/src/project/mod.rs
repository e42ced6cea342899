//! `/v1/project`: a project's document, for its admins.

use crate::{
    App,
    http::{
        address::SourceNetwork,
        answer::{ErrorResponses, JsonResult},
        at::AtProject,
        body::Json,
        caller::Asker,
    },
};
use axum::{Router, extract::State, routing::get};
use countersign_engine::{Actor, ApplyError, ApplyRefusal, ProjectAt, Refusal, Role};
use countersign_protocol::project::ProjectDocument;

pub(crate) fn router() -> Router<App> {
    Router::new()
        .route("/v1/project", get(show).put(apply))
        .route("/projects/{projectId}/v1/project", get(show).put(apply))
}

#[derive(serde::Serialize, utoipa::ToSchema)]
pub(crate) struct AppliedDocument {
    version: i64,
    document: ProjectDocument,
}

#[utoipa::path(
    get, path = "/v1/project", tag = "admins", security(("session" = []), ("bearer" = [])),
    summary = "The project document in force",
    responses((status = 200, description = "The document and its version", body = AppliedDocument), ErrorResponses),
)]
pub(crate) async fn show(
    State(app): State<App>,
    AtProject(at): AtProject,
    SourceNetwork(source): SourceNetwork,
    asker: Asker,
) -> JsonResult<AppliedDocument> {
    admin(&app, &at, &asker, &source).await?;
    Ok(axum::Json(AppliedDocument {
        version: at.project.version,
        document: ProjectDocument::clone(&at.project.document),
    }))
}

#[utoipa::path(
    put, path = "/v1/project", tag = "admins", security(("session" = []), ("bearer" = [])),
    request_body = ProjectDocument,
    summary = "Apply a project document",
    params(("X-CSRF-Token" = Option<String>, Header, description = "Required with a sign-in session"), ("Aap-Version" = Option<String>, Header, description = "The protocol version; required with an agent's or operator's credentials")),
    responses((status = 200, description = "In force now", body = AppliedDocument), ErrorResponses),
)]
pub(crate) async fn apply(
    State(app): State<App>,
    AtProject(at): AtProject,
    SourceNetwork(source): SourceNetwork,
    asker: Asker,
    Json(document): Json<ProjectDocument>,
) -> JsonResult<AppliedDocument> {
    let by = admin(&app, &at, &asker, &source).await?;
    if document.id != at.project.id {
        return Err(Refusal::invalid("the document is for another project").into());
    }
    let applied = app.engine.apply_project(document, &by).await.map_err(refused)?;
    Ok(axum::Json(AppliedDocument {
        version: applied.project.version,
        document: ProjectDocument::clone(&applied.project.document),
    }))
}

/// An admin by session or by key, with the name for the audit entry. A write by session requires fresh authentication.
async fn admin(app: &App, at: &ProjectAt, asker: &Asker, source: &str) -> Result<String, Refusal> {
    match asker.actor(app, at, None, source).await? {
        Actor::AdminKey(key) => Ok(key.principal),
        Actor::Person(member) if member.has_role(Role::Admin) => {
            let fresh = asker.is_reading() || member.is_fresh(app.engine.now());
            if fresh { Ok(member.person.subject) } else { Err(Refusal::FreshSignInRequired) }
        }
        _ => Err(Refusal::NotAuthorized("only an admin of the project may see or change its document".into())),
    }
}

fn refused(trouble: ApplyError) -> Refusal {
    match trouble {
        ApplyError::Refused(ApplyRefusal::Problems(problems)) => {
            let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
            Refusal::invalid(format!("the document cannot be applied: {}", lines.join("; ")))
        }
        ApplyError::Refused(other) => Refusal::Conflict(other.to_string()),
        ApplyError::Store(_) | ApplyError::Unavailable => Refusal::Unavailable,
    }
}
