//! Requests of `countersign delegation`, and of `countersign key lift`.

use super::{AdminRefusal, AdminRequest, projects::find_project};
use countersign_engine::{ApiKey, Delegation, DelegationState, Engine, Refusal};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Serialize, Deserialize)]
pub struct ListDelegations {
    pub project: Option<String>,
}

impl AdminRequest for ListDelegations {
    const NAME: &'static str = "list-delegations";
    type Answer = Vec<Delegation>;

    async fn run(self, engine: &Arc<Engine>) -> Result<Vec<Delegation>, AdminRefusal> {
        let project = find_project(engine, self.project.as_deref()).await?;
        Ok(engine.delegations_in(project.key).await?)
    }
}

/// Lifts suspensions of delegations: of the one with this id, or of all in the project.
#[derive(Serialize, Deserialize)]
pub struct LiftDelegations {
    pub project: Option<String>,
    pub id: Option<String>,
}

impl AdminRequest for LiftDelegations {
    const NAME: &'static str = "lift-delegations";
    type Answer = Vec<Delegation>;

    async fn run(self, engine: &Arc<Engine>) -> Result<Vec<Delegation>, AdminRefusal> {
        let project = find_project(engine, self.project.as_deref()).await?;
        let ids = match self.id {
            Some(id) => vec![id],
            None => {
                let suspended = |found: &Delegation| matches!(found.state, DelegationState::Suspended { .. });
                let all = engine.delegations_in(project.key).await?;
                all.into_iter().filter(suspended).map(|found| found.id).collect()
            }
        };
        let mut lifted = Vec::new();
        for id in ids {
            lifted.push(engine.lift_delegation(&project, &id, None).await?);
        }
        Ok(lifted)
    }
}

/// The same for API keys.
#[derive(Serialize, Deserialize)]
pub struct LiftApiKeys {
    pub project: Option<String>,
    pub id: Option<String>,
}

impl AdminRequest for LiftApiKeys {
    const NAME: &'static str = "lift-api-keys";
    type Answer = Vec<ApiKey>;

    async fn run(self, engine: &Arc<Engine>) -> Result<Vec<ApiKey>, AdminRefusal> {
        let project = find_project(engine, self.project.as_deref()).await?;
        let ids = match self.id {
            Some(id) => vec![id],
            None => {
                let suspended =
                    engine.people().api_keys(project.key).await?.into_iter().filter(|key| key.suspended_at.is_some());
                suspended.map(|key| key.id).collect()
            }
        };
        let mut lifted = Vec::new();
        for id in ids {
            lifted.push(engine.lift_key(&project, &id).await.map_err(|why| match why {
                Refusal::NotFound(_) => AdminRefusal::UnknownApiKey,
                other => other.into(),
            })?);
        }
        Ok(lifted)
    }
}
