//! Documents for others: the audit, and the handoff to another agent. Both are verified on receipt.

use super::{ClarificationError, Clarifications};
use countersign_jose::clarification::{ChainReport, check_audit, check_handoff};
use countersign_protocol::mplp::MplpId;
use serde_json::Value;

/// A document exactly as received, with its verification report. Written out again as plain JSON it proves the same;
/// read into types and written, it might not.
#[derive(Clone, Debug, PartialEq)]
pub struct ProvenDocument {
    pub document: Value,
    pub report: ChainReport,
}

impl Clarifications {
    /// All questions and answers, with the plans; read by [`countersign_protocol::clarification::Audit`]. For a session
    /// older than the service's current agent id only integrity can be proven: the report says so.
    pub async fn audit(&self, session: &MplpId) -> Result<ProvenDocument, ClarificationError> {
        let document = self.of_session("/audit", session).await?;
        let report = self.prove(&document, check_audit).await?;
        of_session(session, document, report)
    }

    /// The handoff document; read by [`countersign_protocol::clarification::Handoff`].
    pub async fn handoff(&self, session: &MplpId) -> Result<ProvenDocument, ClarificationError> {
        let document = self.of_session("/handoff", session).await?;
        let report = self.prove_known(&document, check_handoff).await?;
        of_session(session, document, report)
    }
}

fn of_session(session: &MplpId, document: Value, report: ChainReport) -> Result<ProvenDocument, ClarificationError> {
    match report.session_id == session.as_str() {
        true => Ok(ProvenDocument { document, report }),
        false => Err(ClarificationError::NotAsSigned("session")),
    }
}
