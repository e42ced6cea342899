//! MPLP callers: an agent, a person's subscriber or an admin key, authenticated by the request's credential.

use crate::{
    aaep::Listener, credentials::PresentedCredential, decisions::AgentPrincipal, projects::ProjectAt, services::Plans,
    store::ApiKeyByHash,
};
use countersign_core::{
    people::ProjectMember,
    records::{ApiKey, ApiKeyKind, Role},
    refusal::Refusal,
};
use countersign_protocol::hash::Digest;

#[derive(Clone, Debug)]
pub enum Speaker {
    Agent(Box<AgentPrincipal>),
    /// By a subscriber token of theirs.
    Person(Box<Listener>),
    Admin,
}

/// A reader of a project's plans, Confirms, events and clarification chains.
#[derive(Clone, Debug)]
pub enum ProjectReader {
    /// The agent sees its own.
    Agent(Box<AgentPrincipal>),
    /// A person sees those of their agents and those they may decide; admins and auditors see all.
    Person(Box<ProjectMember>),
    /// An admin key sees everything in the project.
    Admin,
}

impl ProjectReader {
    pub(crate) fn sees_all(&self) -> bool {
        match self {
            Self::Agent(_) => false,
            Self::Person(member) => member.has_role(Role::Admin) || member.has_role(Role::Auditor),
            Self::Admin => true,
        }
    }

    pub(crate) fn is_agent(&self, principal: &str) -> bool {
        matches!(self, Self::Agent(agent) if agent.raiser.principal == principal)
    }

    pub(crate) fn member(&self) -> Option<&ProjectMember> {
        match self {
            Self::Person(member) => Some(member),
            _ => None,
        }
    }
}

impl Speaker {
    /// The caller's read access.
    pub fn reader(&self) -> ProjectReader {
        match self {
            Self::Agent(agent) => ProjectReader::Agent(agent.clone()),
            Self::Person(listener) => ProjectReader::Person(Box::new(listener.member.clone())),
            Self::Admin => ProjectReader::Admin,
        }
    }
}

impl Plans<'_> {
    /// The caller behind a credential.
    pub async fn authenticate_caller(
        self,
        at: &ProjectAt,
        presented: PresentedCredential<'_>,
    ) -> Result<Speaker, Refusal> {
        if is_subscriber(presented.token) {
            return self.person_by_token(at, presented.token).await;
        }
        if self.is_admin_key(at, presented.token).await? {
            self.people().key_actor(at, presented).await?;
            return Ok(Speaker::Admin);
        }
        self.decisions().authenticate_agent(at, presented).await.map(|agent| Speaker::Agent(Box::new(agent)))
    }

    /// Authenticates again without a DPoP proof, which was spent before: is the credential still valid?
    pub async fn reauthenticate_caller(self, at: &ProjectAt, token: &str) -> Result<Speaker, Refusal> {
        if is_subscriber(token) {
            return self.person_by_token(at, token).await;
        }
        if self.is_admin_key(at, token).await? {
            return Ok(Speaker::Admin);
        }
        self.decisions().reauthenticate_agent(at, token).await.map(|agent| Speaker::Agent(Box::new(agent)))
    }

    async fn person_by_token(self, at: &ProjectAt, token: &str) -> Result<Speaker, Refusal> {
        self.events().subscriber_by_token(at, token).await.map(|listener| Speaker::Person(Box::new(listener)))
    }

    async fn is_admin_key(self, at: &ProjectAt, token: &str) -> Result<bool, Refusal> {
        self.check_clock()?;
        if !token.starts_with("csk_") {
            return Ok(false);
        }
        let key = self.find_one(ApiKeyByHash(Digest::of(token.as_bytes()))).await?;
        let counts = |key: &ApiKey| key.project == at.project.key && key.is_live();
        Ok(key.filter(counts).is_some_and(|key| key.kind == ApiKeyKind::Admin))
    }
}

fn is_subscriber(token: &str) -> bool {
    token.starts_with("cst_")
}
