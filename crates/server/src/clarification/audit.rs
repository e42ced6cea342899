//! `GET /v1/clarification/audit?session_id=`: all questions and answers of a session, verifiable offline
//! (Clarification 6.3). For its agent, the person concerned, auditors and admins.

use super::session::SessionId;
use crate::{
    App,
    http::{
        answer::RefusalResponse,
        at::AtProject,
        caller::Asker,
        credential::{BearerCredential, SentTo},
        nonce::Nonce,
    },
};
use axum::extract::{FromRequestParts, State};
use countersign_engine::{ProjectAt, ProjectReader, Refusal};
use countersign_protocol::{aap::error::ErrorEnvelope, clarification::Audit};
use http::request::Parts;

#[utoipa::path(
    get,
    path = "/v1/clarification/audit",
    tag = "clarifications",
    summary = "All questions and answers of a session",
    description = "For the agent of the session, the person for whom it acts, auditors and admins of the project: by a \
                   key, a token, a subscriber token or a session.",
    params(("session_id" = String, Query, description = "session_id of the session")),
    responses((status = 200, description = "The chain in both views of the protocol, with its plans", body = Audit), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("session" = []), ("bearer" = []))
)]
pub(crate) async fn get(
    State(app): State<App>,
    Reading { at, reader }: Reading,
    SessionId(id): SessionId,
) -> Result<axum::Json<Audit>, RefusalResponse> {
    Ok(axum::Json(app.engine.clarifications().clarify_audit(&at, &reader, &id).await?))
}

/// The reader, authenticated by `Authorization` or, without one, by a sign-in session.
pub(crate) struct Reading {
    at: ProjectAt,
    reader: ProjectReader,
}

impl FromRequestParts<App> for Reading {
    type Rejection = RefusalResponse;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, RefusalResponse> {
        let AtProject(at) = AtProject::from_request_parts(parts, app).await?;
        let reader = match BearerCredential::of(&parts.headers, &SentTo::of(parts))? {
            Some(credential) => {
                Nonce::of(parts).give(app.engine.calls().nonce_for_calls_at(&at));
                by_credential(app, &at, &credential).await?
            }
            None => signed_in(app, &at, &Asker::from_request_parts(parts, app).await?).await?,
        };
        Ok(Self { at, reader })
    }
}

async fn by_credential(app: &App, at: &ProjectAt, credential: &BearerCredential) -> Result<ProjectReader, Refusal> {
    let url = credential.url(at);
    Ok(app.engine.plans().authenticate_caller(at, credential.presented(&url)?).await?.reader())
}

async fn signed_in(app: &App, at: &ProjectAt, asker: &Asker) -> Result<ProjectReader, Refusal> {
    let who = asker.signed_in.as_ref().ok_or(Refusal::NoCredentials)?;
    Ok(ProjectReader::Person(Box::new(app.engine.people().member(who, at.project.key).await?)))
}
