//! API keys, and the actors behind them.

use crate::{
    credentials::PresentedCredential,
    decisions::bound_key,
    projects::ProjectAt,
    services::People,
    store::{ApiKeyByHash, ApiKeyById, ApiKeysOfProject, DelegationsOfPerson},
};
use countersign_core::{
    people::{
        Actor,
        api_keys::{AddKey, AddedKey, RevokeKey, RevokeKeyView},
    },
    records::{ApiKey, ApiKeyKind, Delegation, Project},
    refusal::Refusal,
    step::Operation as _,
};
use countersign_protocol::{hash::Digest, ids::RowKey};
use serde::{Deserialize, Serialize};

/// A key to be created, as the command line describes it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NewKey {
    pub kind: ApiKeyKind,
    pub principal: String,
    /// The name of the responsible person.
    pub responsible: String,
    pub actions: Vec<String>,
    pub asks: Vec<String>,
    pub jkt: Option<String>,
}

impl People<'_> {
    pub async fn add_key(self, project: &Project, new: &NewKey) -> Result<AddedKey, Refusal> {
        for name in &new.asks {
            let known = self.account(name).await?.is_some();
            known
                .then_some(())
                .ok_or_else(|| Refusal::invalid(format!("{name:?}, to be asked, has no account here")))?;
        }
        self.run(|| async {
            let responsible = self.account(&new.responsible).await?;
            let nobody = || Refusal::invalid("the responsible person has no account here");
            let responsible = responsible.ok_or_else(nobody)?;
            let add = AddKey {
                kind: new.kind,
                principal: new.principal.clone(),
                responsible,
                actions: new.actions.clone(),
                asks: new.asks.clone(),
                jkt: new.jkt.clone(),
            };
            add.decide(project, &self.env()?)
        })
        .await
    }

    pub async fn revoke_key(self, project: &Project, id: &str) -> Result<ApiKey, Refusal> {
        let revoke = || async {
            let key = self.find_one(ApiKeyById { project: project.key, id: id.to_owned() }).await?;
            let key = key.ok_or_else(|| Refusal::NotFound("there is no such key in this project".into()))?;
            let live = self.decisions().live_of_delegation(key.key).await?;
            let view = RevokeKeyView { project: project.clone(), key, live };
            RevokeKey.decide(&view, &self.env()?)
        };
        let key = self.run(revoke).await?;
        self.agents().end_late_decisions_of_delegation(project, key.key).await?;
        Ok(key)
    }

    pub async fn api_keys(self, project: RowKey) -> Result<Vec<ApiKey>, Refusal> {
        Ok(self.find_all(ApiKeysOfProject(project)).await?)
    }

    /// The actor behind a key. A key of another project is invalid here.
    pub async fn key_actor<'a>(
        self,
        at: &ProjectAt,
        secret: impl Into<PresentedCredential<'a>>,
    ) -> Result<Actor, Refusal> {
        let presented = secret.into();
        self.check_clock()?;
        let key = self.find_one(ApiKeyByHash(Digest::of(presented.token.as_bytes()))).await?;
        let live = key.filter(|key| key.project == at.project.key);
        if let Some(key) = live.as_ref().filter(|key| !key.is_live()) {
            return Err(Refusal::NotAuthorized(key.refusal().into()));
        }
        if let Some(key) = &live {
            self.prove_possession(at, bound_key(key)?.as_ref(), false, &presented.hashed()).await?;
        }
        match live {
            Some(key) if key.kind == ApiKeyKind::Admin => Ok(Actor::AdminKey(Box::new(key))),
            Some(_) => Ok(Actor::OtherKey),
            None => Err(Refusal::NotAuthorized("the API key is unknown or was revoked".into())),
        }
    }

    /// A person's delegations in a project, newest first.
    pub async fn delegations_of(self, project: RowKey, person: RowKey) -> Result<Vec<Delegation>, Refusal> {
        let mut found = self.find_all(DelegationsOfPerson { project, person }).await?;
        found.reverse();
        Ok(found)
    }
}
