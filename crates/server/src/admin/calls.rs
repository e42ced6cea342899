//! Requests of `countersign call`.

use super::{AdminRefusal, AdminRequest, projects::find_project};
use countersign_engine::{Engine, Refusal, UnsettledWrite};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Lists the writes with an unknown outcome.
#[derive(Serialize, Deserialize)]
pub struct ListUnsettledCalls {
    pub project: Option<String>,
}

impl AdminRequest for ListUnsettledCalls {
    const NAME: &'static str = "list-unsettled-calls";
    type Answer = Vec<UnsettledWrite>;

    async fn run(self, engine: &Arc<Engine>) -> Result<Vec<UnsettledWrite>, AdminRefusal> {
        let project = find_project(engine, self.project.as_deref()).await?;
        Ok(engine.calls().unsettled_writes(project.key).await?)
    }
}

/// Settles one of them: whether it ran, and the source of that knowledge.
#[derive(Serialize, Deserialize)]
pub struct SettleCall {
    pub project: Option<String>,
    pub call_id: String,
    pub ran: bool,
    pub reason: String,
}

impl AdminRequest for SettleCall {
    const NAME: &'static str = "settle-call";
    type Answer = UnsettledWrite;

    async fn run(self, engine: &Arc<Engine>) -> Result<UnsettledWrite, AdminRefusal> {
        let project = find_project(engine, self.project.as_deref()).await?;
        let settled = engine.calls().settle_unsettled_write(&project, &self.call_id, self.ran, &self.reason).await;
        settled.map_err(|why| match why {
            Refusal::NotFound(_) => AdminRefusal::UnknownCall,
            other => other.into(),
        })
    }
}
