//! `/v1/project`: a project's document, for its admins.

use crate::{
    App,
    http::{address::Source, answer::Refused, asker::Asker, at::At, body::Json},
};
use axum::{Router, extract::State, routing::get};
use countersign_engine::{Actor, ApplyRefusal, ApplyTrouble, ProjectAt, Refusal, Role};
use countersign_protocol::project::ProjectDocument;

pub(crate) fn router() -> Router<App> {
    Router::new()
        .route("/v1/project", get(show).put(apply))
        .route("/projects/{projectId}/v1/project", get(show).put(apply))
}

#[derive(serde::Serialize)]
struct Shown {
    version: i64,
    document: ProjectDocument,
}

async fn show(
    State(app): State<App>,
    At(at): At,
    Source(source): Source,
    asker: Asker,
) -> Result<axum::Json<Shown>, Refused> {
    admin(&app, &at, &asker, &source).await?;
    Ok(axum::Json(Shown { version: at.project.version, document: at.project.document }))
}

async fn apply(
    State(app): State<App>,
    At(at): At,
    Source(source): Source,
    asker: Asker,
    Json(document): Json<ProjectDocument>,
) -> Result<axum::Json<Shown>, Refused> {
    let by = admin(&app, &at, &asker, &source).await?;
    if document.id != at.project.id {
        return Err(Refusal::invalid("the document is for another project").into());
    }
    let applied = app.engine.apply_project(document, &by).await.map_err(refused)?;
    Ok(axum::Json(Shown { version: applied.project.version, document: applied.project.document }))
}

/// An admin by session or by key, and how the record names them. A session must be freshly proven to change things.
async fn admin(app: &App, at: &ProjectAt, asker: &Asker, source: &str) -> Result<String, Refusal> {
    match asker.actor(app, at, None, source).await? {
        Actor::AdminKey(key) => Ok(key.principal),
        Actor::Person(member) if member.has(Role::Admin) => {
            let fresh = asker.is_reading() || member.is_fresh(app.engine.clock().now());
            if fresh { Ok(member.person.subject) } else { Err(Refusal::FreshSignInRequired) }
        }
        _ => Err(Refusal::NotAuthorized("only an admin of the project may see or change its document".into())),
    }
}

fn refused(trouble: ApplyTrouble) -> Refusal {
    match trouble {
        ApplyTrouble::Refused(ApplyRefusal::Problems(problems)) => {
            let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
            Refusal::invalid(format!("the document cannot be applied: {}", lines.join("; ")))
        }
        ApplyTrouble::Refused(other) => Refusal::Conflict(other.to_string()),
        ApplyTrouble::Store(_) | ApplyTrouble::Unavailable => Refusal::Unavailable,
    }
}
