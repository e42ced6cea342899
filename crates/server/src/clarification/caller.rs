//! The callers that may be people: authenticated by `Authorization` or, without one, by a sign-in session.

use crate::{
    App,
    http::{
        answer::RefusalResponse,
        at::AtProject,
        caller::Asker,
        credential::{BearerCredential, Nonce, SentTo},
    },
};
use axum::extract::FromRequestParts;
use countersign_engine::{Abandoning, ProjectAt, ProjectMember, ProjectReader, Refusal, Speaker};
use http::request::Parts;

/// The reader of a session's chain.
pub(crate) struct AuditReader {
    pub(super) at: ProjectAt,
    pub(super) reader: ProjectReader,
}

impl FromRequestParts<App> for AuditReader {
    type Rejection = RefusalResponse;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, RefusalResponse> {
        let AtProject(at) = AtProject::from_request_parts(parts, app).await?;
        let reader = match bearer(parts, app, &at).await?.map(|speaker| speaker.reader()) {
            Some(reader) => reader,
            None => {
                let asker = Asker::from_request_parts(parts, app).await?;
                let person = asker.signed_in.as_ref().ok_or(Refusal::NoCredentials)?;
                ProjectReader::Person(Box::new(app.engine.people().member(person, at.project.key).await?))
            }
        };
        Ok(Self { at, reader })
    }
}

/// The caller that abandons a session; without `Authorization`, on Countersign's own page.
pub(crate) struct AbandonCaller {
    pub(super) at: ProjectAt,
    identity: AbandonIdentity,
}

enum AbandonIdentity {
    Bearer(Speaker),
    SignedIn(Box<ProjectMember>),
}

impl FromRequestParts<App> for AbandonCaller {
    type Rejection = RefusalResponse;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, RefusalResponse> {
        let AtProject(at) = AtProject::from_request_parts(parts, app).await?;
        if let Some(speaker) = bearer(parts, app, &at).await? {
            return Ok(Self { at, identity: AbandonIdentity::Bearer(speaker) });
        }
        let asker = Asker::from_request_parts(parts, app).await?;
        asker.own_page(app, None)?;
        let member = app.engine.people().member(asker.person()?, at.project.key).await?;
        Ok(Self { at, identity: AbandonIdentity::SignedIn(Box::new(member)) })
    }
}

impl AbandonCaller {
    pub(super) fn abandoning(&self) -> Result<Abandoning<'_>, Refusal> {
        match &self.identity {
            AbandonIdentity::SignedIn(member) => Ok(Abandoning::Person(member)),
            AbandonIdentity::Bearer(Speaker::Agent(agent)) => Ok(Abandoning::Agent(agent)),
            AbandonIdentity::Bearer(Speaker::Person(listener)) => {
                let reads_only = || Refusal::NotAuthorized("this subscriber token only listens: sign in".into());
                listener.deciding_member().map(Abandoning::Person).ok_or_else(reads_only)
            }
            AbandonIdentity::Bearer(Speaker::Admin) => {
                Err(Refusal::NotAuthorized("an administrator's key is no person: sign in as an admin".into()))
            }
        }
    }
}

/// The caller named by `Authorization`, if the request has one.
async fn bearer(parts: &Parts, app: &App, at: &ProjectAt) -> Result<Option<Speaker>, Refusal> {
    let Some(credential) = BearerCredential::of(&parts.headers, &SentTo::of(parts))? else { return Ok(None) };
    Nonce::of(parts).give(app.engine.calls().nonce_for_calls_at(at));
    let url = credential.url(at);
    Ok(Some(app.engine.plans().authenticate_caller(at, credential.presented(&url)?).await?))
}
