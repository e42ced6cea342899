//! The requesting agent, as proven by its API key or its access token.

use crate::{
    credentials::PresentedCredential,
    projects::ProjectAt,
    services::Decisions,
    store::{ApiKeyByHash, PersonBySubject},
};
use countersign_core::{
    aap::access::{CallFacts, check_bearer, proof_required},
    decision::terms::actions_of,
    people::accounts::LOCAL,
    records::{ApiKey, ApiKeyKind, Raiser, Table},
    refusal::Refusal,
    step::Guard,
};
use countersign_protocol::{
    aaep::envelope::Producer, decisions::ActionsDocument, hash::Digest, ids::RowKey, time::UnixMillis,
};

/// An agent that may ask, and the basis of that right.
#[derive(Clone, Debug)]
pub struct AgentPrincipal {
    pub(crate) raiser: Raiser,
    /// The stamp on each of its events.
    pub(crate) producer: Producer,
    pub(crate) guards: Vec<Guard>,
    /// The tools that it may ask for; none means any.
    pub(crate) actions: Option<Vec<String>>,
    /// The people it may ask beside the responsible person.
    pub(crate) asks: Vec<RowKey>,
    /// When its access expires.
    pub(crate) until: Option<UnixMillis>,
}

impl AgentPrincipal {
    pub fn principal(&self) -> &str {
        &self.raiser.principal
    }

    /// The agent behind a call that an enforcement point holds.
    pub(crate) fn of_call(call: &CallFacts) -> Result<Self, Refusal> {
        let nobody = || Refusal::TierNotMet { needed: 2, has: 1 };
        Ok(Self {
            raiser: call.raiser().ok_or_else(nobody)?,
            producer: producer(call.operator().to_owned()),
            guards: call.guards().to_vec(),
            actions: None,
            asks: Vec::new(),
            until: None,
        })
    }

    /// Refuses a tool that the key does not list.
    pub(crate) fn may_ask_for(&self, tool: &str) -> Result<(), Refusal> {
        match &self.actions {
            Some(listed) if !tool.is_empty() && !listed.iter().any(|action| action == tool) => {
                Err(Refusal::NotAuthorized(format!("this API key does not list the action {tool:?}")))
            }
            _ => Ok(()),
        }
    }
}

impl Decisions<'_> {
    /// The actions that an agent may request, by its key and the project's policy.
    pub fn actions(self, at: &ProjectAt, agent: &AgentPrincipal) -> ActionsDocument {
        actions_of(&at.project.document, agent.actions.as_deref())
    }

    /// The agent behind a bearer credential. Other kinds of keys, and requests without one, are refused.
    pub async fn authenticate_agent<'a>(
        self,
        at: &ProjectAt,
        token: impl Into<PresentedCredential<'a>>,
    ) -> Result<AgentPrincipal, Refusal> {
        let presented = token.into();
        let (agent, bound) = self.agent_of_credential(at, presented.token).await?;
        let required = agent.raiser.api_key.is_none() && proof_required(&at.project.document);
        self.prove_possession(at, bound.as_ref(), required, &presented.hashed()).await?;
        Ok(agent)
    }

    /// Authenticates the same agent again without its proof, which was spent before.
    pub(crate) async fn reauthenticate_agent(self, at: &ProjectAt, token: &str) -> Result<AgentPrincipal, Refusal> {
        self.agent_of_credential(at, token).await.map(|(agent, _)| agent)
    }

    /// The agent behind a credential, and the key that the credential is bound to.
    async fn agent_of_credential(
        self,
        at: &ProjectAt,
        token: &str,
    ) -> Result<(AgentPrincipal, Option<Digest>), Refusal> {
        self.check_clock()?;
        match token.starts_with("csk_") {
            true => self.agent_by_key(at, token).await,
            false => self.agent_by_token(at, token).await,
        }
    }

    async fn agent_by_key(self, at: &ProjectAt, secret: &str) -> Result<(AgentPrincipal, Option<Digest>), Refusal> {
        let key = self.find_shared(ApiKeyByHash(Digest::of(secret.as_bytes()))).await?;
        let key = key.filter(|key| key.project == at.project.key);
        let key = key.ok_or_else(|| Refusal::NotAuthorized("the API key is unknown or was revoked".into()))?;
        if !key.is_live() {
            return Err(Refusal::NotAuthorized(key.refusal().into()));
        }
        if key.kind != ApiKeyKind::Agent {
            return Err(Refusal::NotAuthorized("only a key of an agent may ask questions".into()));
        }
        let bound = bound_key(&key)?;
        let mut asks = Vec::new();
        for subject in &key.asks {
            let person = self.find_one(PersonBySubject { issuer: LOCAL.into(), subject: subject.clone() }).await?;
            asks.extend(person.filter(|person| !person.disabled).map(|person| person.key));
        }
        let agent = AgentPrincipal {
            raiser: Raiser {
                principal: key.id.clone(),
                person: key.responsible,
                delegation: None,
                session: None,
                api_key: Some(key.key),
                operator: None,
            },
            producer: producer(key.principal.clone()),
            guards: vec![Guard { table: Table::ApiKey, key: key.key, version: key.version }],
            actions: Some(key.actions.clone()),
            asks,
            until: None,
        };
        Ok((agent, bound))
    }

    async fn agent_by_token(self, at: &ProjectAt, token: &str) -> Result<(AgentPrincipal, Option<Digest>), Refusal> {
        let bearer = self.agents().bearer_by_hash(&at.project, &Digest::of(token.as_bytes())).await?;
        check_bearer(&bearer, &at.project.document, self.decision_time()?)?;
        let nobody = || Refusal::TierNotMet { needed: 2, has: 1 };
        let delegation = bearer.delegation.as_ref().ok_or_else(nobody)?;
        let agent = AgentPrincipal {
            raiser: Raiser {
                principal: delegation.id.clone(),
                person: delegation.person,
                delegation: Some(delegation.key),
                session: Some(bearer.session.key),
                api_key: None,
                operator: Some(delegation.operator.clone()),
            },
            producer: producer(delegation.operator.to_string()),
            guards: vec![
                Guard { table: Table::Delegation, key: delegation.key, version: delegation.version },
                Guard { table: Table::Session, key: bearer.session.key, version: bearer.session.version },
            ],
            actions: None,
            asks: Vec::new(),
            until: Some(delegation.policy_expires_at),
        };
        Ok((agent, bearer.token.jkt))
    }
}

/// The DPoP key that an API key is bound to.
pub(crate) fn bound_key(key: &ApiKey) -> Result<Option<Digest>, Refusal> {
    let unreadable = || Refusal::NotAuthorized("the API key is bound to a key that cannot be read".into());
    key.jkt.as_deref().map(|jkt| Digest::from_base64url(jkt).ok_or_else(unreadable)).transpose()
}

/// The proven identity is the name; an agent's self-description is no part of it.
fn producer(agent_id: String) -> Producer {
    Producer { agent_id, agent_version: None, agent_name: None, model: None, manifest_uri: None }
}
