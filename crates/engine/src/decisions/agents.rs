//! The agent that asks, as proven by its API key or its access token.

use crate::{
    engine::{Engine, unavailable},
    projects::ProjectAt,
    store::{self, Lookup},
};
use countersign_core::{
    aap::{access::bearer_holds, standing::receipt_holds},
    people::accounts::LOCAL,
    records::{ApiKey, ApiKeyKind, Person, Raiser, Table},
    refusal::Refusal,
    step::Guard,
};
use countersign_protocol::{aaep::envelope::Producer, hash::Digest, ids::RowKey};

/// An agent that may ask, and everything that its right to ask rests on.
#[derive(Clone, Debug)]
pub struct Agent {
    pub(crate) raiser: Raiser,
    /// What every event of it is stamped with.
    pub(crate) producer: Producer,
    pub(crate) guards: Vec<Guard>,
    /// The tools that it may ask for; none means any.
    pub(crate) actions: Option<Vec<String>>,
    /// Whom it may ask beside the responsible person.
    pub(crate) asks: Vec<RowKey>,
}

impl Agent {
    pub fn principal(&self) -> &str {
        &self.raiser.principal
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

impl Engine {
    /// The agent behind a bearer credential. Whoever holds another kind of key, or none, is refused.
    pub async fn agent(&self, at: &ProjectAt, token: &str) -> Result<Agent, Refusal> {
        match token.starts_with("csk_") {
            true => self.agent_by_key(at, token).await,
            false => self.agent_by_token(at, token).await,
        }
    }

    async fn agent_by_key(&self, at: &ProjectAt, secret: &str) -> Result<Agent, Refusal> {
        let lookup = Lookup::ApiKeyByHash(Digest::of(secret.as_bytes()));
        let key: Option<ApiKey> = store::find_one(&*self.store, lookup).await.map_err(unavailable)?;
        let key = key.filter(|key| key.project == at.project.key && key.revoked_at.is_none());
        let key = key.ok_or_else(|| Refusal::NotAuthorized("the API key is not known here or was revoked".into()))?;
        if key.kind != ApiKeyKind::Agent {
            return Err(Refusal::NotAuthorized("only a key of an agent may ask questions".into()));
        }
        // Proofs are not read yet, and a key that needs one is no good without it.
        if key.jkt.is_some() {
            return Err(Refusal::NotAuthorized("this API key is bound to a DPoP key, which is not served yet".into()));
        }
        let mut asks = Vec::new();
        for subject in &key.asks {
            let lookup = Lookup::PersonBySubject { issuer: LOCAL.into(), subject: subject.clone() };
            let person: Option<Person> = store::find_one(&*self.store, lookup).await.map_err(unavailable)?;
            asks.extend(person.filter(|person| !person.disabled).map(|person| person.key));
        }
        Ok(Agent {
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
            actions: Some(key.actions),
            asks,
        })
    }

    async fn agent_by_token(&self, at: &ProjectAt, token: &str) -> Result<Agent, Refusal> {
        let bearer = self.live_bearer(at, token).await?;
        let now = self.now();
        bearer_holds(&bearer, now)?;
        bearer.session.receipt.as_ref().map_or(Ok(()), |receipt| receipt_holds(receipt, now))?;
        let nobody = || Refusal::TierNotMet { needed: 2, has: 1 };
        let delegation = bearer.delegation.as_ref().ok_or_else(nobody)?;
        Ok(Agent {
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
        })
    }
}

/// The proven identity is the name; what an agent calls itself is nowhere in it.
fn producer(agent_id: String) -> Producer {
    Producer { agent_id, agent_version: None, agent_name: None, model: None, manifest_uri: None }
}
