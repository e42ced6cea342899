//! The reader of a project's audit: a signed-in person, a person's subscriber token, or an admin key.

use super::{
    answer::RefusalResponse,
    at::AtProject,
    cookie,
    credential::{BearerCredential, Nonce, SentTo},
};
use crate::App;
use axum::extract::FromRequestParts;
use countersign_engine::{ProjectAt, ProjectReader, Refusal};
use http::request::Parts;

pub(crate) struct Auditor {
    pub(crate) reader: ProjectReader,
    credential: AuditorCredential,
}

/// Kept for long exports: whoever loses access in between reads no further.
enum AuditorCredential {
    Bearer(String),
    Cookie(String),
}

impl FromRequestParts<App> for Auditor {
    type Rejection = RefusalResponse;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, RefusalResponse> {
        let AtProject(at) = AtProject::from_request_parts(parts, app).await?;
        if let Some(credential) = BearerCredential::of(&parts.headers, &SentTo::of(parts))? {
            Nonce::of(parts).give(app.engine.calls().nonce_for_calls_at(&at));
            let url = credential.url(&at);
            let caller = app.engine.plans().authenticate_caller(&at, credential.presented(&url)?).await?;
            return Ok(Self { reader: caller.reader(), credential: AuditorCredential::Bearer(credential.token) });
        }
        let cookie = cookie::read(&parts.headers).ok_or(Refusal::NoCredentials)?;
        let reader = by_cookie(app, &at, &cookie).await?;
        Ok(Self { reader, credential: AuditorCredential::Cookie(cookie) })
    }
}

impl Auditor {
    /// The same reader, as far as they may still read.
    pub(crate) async fn again(&self, app: &App, at: &ProjectAt) -> Result<ProjectReader, Refusal> {
        match &self.credential {
            AuditorCredential::Bearer(token) => Ok(app.engine.plans().reauthenticate_caller(at, token).await?.reader()),
            AuditorCredential::Cookie(secret) => by_cookie(app, at, secret).await,
        }
    }
}

async fn by_cookie(app: &App, at: &ProjectAt, secret: &str) -> Result<ProjectReader, Refusal> {
    let who = app.engine.people().signed_in(secret).await?.ok_or(Refusal::NoCredentials)?;
    Ok(ProjectReader::Person(Box::new(app.engine.people().member(&who, at.project.key).await?)))
}
