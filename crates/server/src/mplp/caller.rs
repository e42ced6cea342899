//! The caller and the resource that a request names.

use crate::{
    App,
    http::{
        answer::RefusalResponse,
        at::{AtProject, path_param},
        credential::{BearerCredential, Nonce, SentTo},
    },
};
use axum::extract::{FromRequestParts, OriginalUri};
use countersign_engine::{AgentPrincipal, Engine, ProjectAt, ProjectReader, ProvenPerson, Refusal, Speaker};
use countersign_protocol::mplp::MplpId;
use http::request::Parts;
use std::sync::Arc;

pub(crate) struct MplpCaller {
    pub(super) engine: Arc<Engine>,
    pub(super) at: ProjectAt,
    pub(super) speaker: Speaker,
    /// For authenticating the caller again during a stream: its DPoP proof is valid only once.
    pub(super) token: String,
    /// The path prefix of this module: empty, or the project's own path.
    base: String,
}

impl FromRequestParts<App> for MplpCaller {
    type Rejection = RefusalResponse;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, RefusalResponse> {
        let AtProject(at) = AtProject::from_request_parts(parts, app).await?;
        Nonce::of(parts).give(app.engine.calls().nonce_for_calls_at(&at));
        let credential = BearerCredential::of(&parts.headers, &SentTo::of(parts))?.ok_or(Refusal::NoCredentials)?;
        let url = credential.url(&at);
        let speaker = app.engine.plans().authenticate_caller(&at, credential.presented(&url)?).await?;
        Ok(Self { engine: app.engine.clone(), at, speaker, token: credential.token, base: base(parts) })
    }
}

impl MplpCaller {
    /// The caller's read access.
    pub(super) fn reader(&self) -> ProjectReader {
        self.speaker.reader()
    }

    /// The agent, for endpoints that only agents may use.
    pub(super) fn agent(&self) -> Result<&AgentPrincipal, Refusal> {
        match &self.speaker {
            Speaker::Agent(agent) => Ok(agent),
            Speaker::Person(_) | Speaker::Admin => Err(Refusal::NotAuthorized("only an agent may do this".into())),
        }
    }

    /// The person, for endpoints that only people may use.
    pub(super) fn person(&self) -> Result<ProvenPerson, Refusal> {
        match &self.speaker {
            Speaker::Person(listener) => Ok(self.engine.plans().proven_person(&self.at, listener)),
            Speaker::Agent(_) | Speaker::Admin => {
                Err(Refusal::NotAuthorized("only a person may do this, with their own subscriber token".into()))
            }
        }
    }

    /// The path of a resource, as this caller reaches it.
    pub(super) fn location(&self, below: &str) -> String {
        format!("{}/mplp/v1/{below}", self.base)
    }
}

/// A nested router shortens the path that its handlers see.
fn base(parts: &Parts) -> String {
    let uri = parts.extensions.get::<OriginalUri>().map_or(&parts.uri, |OriginalUri(uri)| uri);
    uri.path().split_once("/mplp/v1").map(|(before, _)| before.to_owned()).unwrap_or_default()
}

macro_rules! ids {
    ($($name:ident = $param:literal;)+) => {
        $(pub(crate) struct $name(pub(super) MplpId);

        impl FromRequestParts<App> for $name {
            type Rejection = RefusalResponse;

            async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, RefusalResponse> {
                let text = path_param(parts, app, $param).await.unwrap_or_default();
                let id = MplpId::parse(&text).map_err(|why| Refusal::invalid(format!("{}: {why}", $param)))?;
                Ok(Self(id))
            }
        })+
    };
}

ids! {
    PlanId = "plan";
    StepId = "step";
    ConfirmId = "confirm";
}
