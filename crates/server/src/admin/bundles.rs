//! Requests of `countersign audit bundle`.

use super::{AdminRefusal, AdminRequest, projects::find_project};
use countersign_engine::{Engine, Refusal};
use countersign_evidence::bundle::{Subject, SubjectKind};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// Exports everything that the log has about a decision, a session, a delegation or an execution.
#[derive(Serialize, Deserialize)]
pub struct ExportBundle {
    pub project: Option<String>,
    /// `decision`, `session`, `delegation` or `execution`.
    pub kind: String,
    pub id: String,
    /// Members whose openings stay here.
    pub withheld: Vec<String>,
}

impl AdminRequest for ExportBundle {
    const NAME: &'static str = "export-bundle";
    type Answer = Value;

    async fn run(self, engine: &Arc<Engine>) -> Result<Value, AdminRefusal> {
        let project = find_project(engine, self.project.as_deref()).await?;
        let kind = SubjectKind::ALL.into_iter().find(|kind| kind.as_str() == self.kind);
        let kind = kind.ok_or_else(|| Refusal::invalid("this is no kind of subject"))?;
        let bundle = engine.evidence().bundle(&project, Subject { kind, id: self.id }, &self.withheld).await?;
        Ok(bundle.to_json())
    }
}
