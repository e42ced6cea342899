//! A decision, as tools tell it: the document of `/v1`, and what to do now.

use super::next;
use countersign_protocol::decisions::DecisionDocument;

#[derive(Debug, serde::Serialize, utoipa::ToSchema)]
pub(in crate::mcp) struct DecisionTold {
    #[serde(flatten)]
    decision: DecisionDocument,
    /// What to do now, in words.
    next: String,
}

impl From<DecisionDocument> for DecisionTold {
    fn from(decision: DecisionDocument) -> Self {
        Self { next: next::after(&decision), decision }
    }
}
