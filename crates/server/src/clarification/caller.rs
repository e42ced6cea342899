//! The caller that abandons a session, authenticated by `Authorization` or, without one, by a sign-in session on
//! Countersign's own page.

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
use countersign_engine::{Abandoning, ProjectAt, ProjectMember, Refusal, Speaker};
use http::request::Parts;

pub(crate) struct SessionAsker {
    pub(super) at: ProjectAt,
    who: ClarificationCaller,
}

enum ClarificationCaller {
    Bearer(Speaker),
    SignedIn(Box<ProjectMember>),
}

impl FromRequestParts<App> for SessionAsker {
    type Rejection = RefusalResponse;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, RefusalResponse> {
        let AtProject(at) = AtProject::from_request_parts(parts, app).await?;
        if let Some(credential) = BearerCredential::of(&parts.headers, &SentTo::of(parts))? {
            Nonce::of(parts).give(app.engine.calls().nonce_for_calls_at(&at));
            let url = credential.url(&at);
            let speaker = app.engine.plans().speaker(&at, credential.presented(&url)?).await?;
            return Ok(Self { at, who: ClarificationCaller::Bearer(speaker) });
        }
        let asker = Asker::from_request_parts(parts, app).await?;
        asker.own_page(app, None)?;
        let member = app.engine.people().member(asker.person()?, at.project.key).await?;
        Ok(Self { at, who: ClarificationCaller::SignedIn(Box::new(member)) })
    }
}

impl SessionAsker {
    pub(super) fn abandoning(&self) -> Result<Abandoning<'_>, Refusal> {
        match &self.who {
            ClarificationCaller::SignedIn(member) => Ok(Abandoning::Person(member)),
            ClarificationCaller::Bearer(Speaker::Agent(agent)) => Ok(Abandoning::Agent(agent)),
            ClarificationCaller::Bearer(Speaker::Person(listener)) => {
                let reads_only = || Refusal::NotAuthorized("this subscriber token only listens: sign in".into());
                listener.deciding_member().map(Abandoning::Person).ok_or_else(reads_only)
            }
            ClarificationCaller::Bearer(Speaker::Admin) => {
                Err(Refusal::NotAuthorized("an administrator's key is no person: sign in as an admin".into()))
            }
        }
    }
}
