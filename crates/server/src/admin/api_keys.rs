//! Requests of `countersign key`.

use super::{AdminRefusal, AdminRequest, projects::find_project};
use countersign_engine::{ApiKey, Engine, NewKey, Refusal};
use countersign_protocol::ids::ProjectId;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Serialize, Deserialize)]
pub struct AddApiKey {
    pub project: Option<String>,
    pub new: NewKey,
}

#[derive(Serialize, Deserialize)]
pub struct AddedApiKey {
    pub project: ProjectId,
    pub key: ApiKey,
    /// Shown once; only its hash is kept.
    pub secret: String,
}

impl AdminRequest for AddApiKey {
    const NAME: &'static str = "add-api-key";
    type Answer = AddedApiKey;

    async fn run(self, engine: &Arc<Engine>) -> Result<AddedApiKey, AdminRefusal> {
        let project = find_project(engine, self.project.as_deref()).await?;
        let added = engine.people().add_key(&project, &self.new).await?;
        Ok(AddedApiKey { project: project.id, key: added.key, secret: added.secret })
    }
}

#[derive(Serialize, Deserialize)]
pub struct ListApiKeys {
    pub project: Option<String>,
}

#[derive(Serialize, Deserialize)]
pub struct ListedApiKey {
    pub key: ApiKey,
    /// The name of the responsible person.
    pub responsible: String,
}

impl AdminRequest for ListApiKeys {
    const NAME: &'static str = "list-api-keys";
    type Answer = Vec<ListedApiKey>;

    async fn run(self, engine: &Arc<Engine>) -> Result<Vec<ListedApiKey>, AdminRefusal> {
        let project = find_project(engine, self.project.as_deref()).await?;
        let people = engine.people().list().await?;
        let name =
            |key: i64| people.iter().find(|(person, _)| person.key == key).map(|(found, _)| found.subject.clone());
        let keys = engine.people().api_keys(project.key).await?.into_iter();
        Ok(keys.map(|key| ListedApiKey { responsible: name(key.responsible).unwrap_or_default(), key }).collect())
    }
}

#[derive(Serialize, Deserialize)]
pub struct RevokeApiKey {
    pub project: Option<String>,
    pub id: String,
}

impl AdminRequest for RevokeApiKey {
    const NAME: &'static str = "revoke-api-key";
    type Answer = ApiKey;

    async fn run(self, engine: &Arc<Engine>) -> Result<ApiKey, AdminRefusal> {
        let project = find_project(engine, self.project.as_deref()).await?;
        engine.people().revoke_key(&project, &self.id).await.map_err(|why| match why {
            Refusal::NotFound(_) => AdminRefusal::UnknownApiKey,
            other => other.into(),
        })
    }
}
