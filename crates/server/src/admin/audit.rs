//! Requests of `countersign audit`.

use super::{AdminRefusal, AdminRequest, projects::find_project};
use countersign_engine::{AuditSearch, Cursor, Engine, EvidenceCheck, Refusal};
use countersign_protocol::audit::AuditRecords;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One page of a project's audit.
#[derive(Clone, Serialize, Deserialize)]
pub struct ListAudit {
    pub project: Option<String>,
    pub search: AuditSearch,
    /// The `next_cursor` of the previous page; empty at the beginning.
    pub cursor: String,
    pub limit: usize,
}

impl AdminRequest for ListAudit {
    const NAME: &'static str = "list-audit";
    type Answer = AuditRecords;

    async fn run(self, engine: &Arc<Engine>) -> Result<AuditRecords, AdminRefusal> {
        let project = find_project(engine, self.project.as_deref()).await?;
        let cursor = Cursor::parse(&self.cursor).ok_or_else(|| Refusal::invalid("this is no cursor of the audit"))?;
        Ok(engine.evidence().audit_of(&project, &self.search, &cursor, self.limit.clamp(1, 1000)).await?)
    }
}

/// Goes on with the check of the evidence for a moment; to be asked until it is finished.
#[derive(Clone, Serialize, Deserialize)]
pub struct CheckEvidence {
    pub from_start: bool,
}

impl AdminRequest for CheckEvidence {
    const NAME: &'static str = "check-evidence";
    type Answer = EvidenceCheck;

    async fn run(self, engine: &Arc<Engine>) -> Result<EvidenceCheck, AdminRefusal> {
        Ok(engine.evidence().check(self.from_start).await?)
    }
}
