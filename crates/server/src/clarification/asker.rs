//! The caller that abandons a session, authenticated by `Authorization` or, without one, by a sign-in session on
//! Countersign's own page.

use crate::{
    App,
    http::{
        answer::Refused,
        asker::Asker,
        at::At,
        credential::{Credential, SentTo},
        nonce::Nonce,
    },
};
use axum::extract::FromRequestParts;
use countersign_engine::{Abandoning, Member, ProjectAt, Refusal, Speaker};
use http::request::Parts;

pub(crate) struct SessionAsker {
    pub(super) at: ProjectAt,
    who: Who,
}

enum Who {
    Bearer(Speaker),
    SignedIn(Box<Member>),
}

impl FromRequestParts<App> for SessionAsker {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Refused> {
        let At(at) = At::from_request_parts(parts, app).await?;
        if let Some(credential) = Credential::of(&parts.headers, &SentTo::of(parts))? {
            Nonce::of(parts).give(app.engine.nonce_for_calls_at(&at));
            let url = credential.url(&at);
            let speaker = app.engine.speaker(&at, credential.presented(&url)?).await?;
            return Ok(Self { at, who: Who::Bearer(speaker) });
        }
        let asker = Asker::from_request_parts(parts, app).await?;
        asker.own_page(app, None)?;
        let member = app.engine.member(asker.person()?, at.project.key).await?;
        Ok(Self { at, who: Who::SignedIn(Box::new(member)) })
    }
}

impl SessionAsker {
    pub(super) fn abandoning(&self) -> Result<Abandoning<'_>, Refusal> {
        match &self.who {
            Who::SignedIn(member) => Ok(Abandoning::Person(member)),
            Who::Bearer(Speaker::Agent(agent)) => Ok(Abandoning::Agent(agent)),
            Who::Bearer(Speaker::Person(listener)) => {
                let reads_only = || Refusal::NotAuthorized("this subscriber token only listens: sign in".into());
                listener.deciding_member().map(Abandoning::Person).ok_or_else(reads_only)
            }
            Who::Bearer(Speaker::Admin) => {
                Err(Refusal::NotAuthorized("an administrator's key is no person: sign in as an admin".into()))
            }
        }
    }
}
