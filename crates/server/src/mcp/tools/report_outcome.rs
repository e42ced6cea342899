//! `report_outcome`: `POST /v1/decisions/{decision}/outcome` as a tool.

use super::told::DecisionTold;
use crate::mcp::tool::{Call, Hints, Tool};
use countersign_engine::Refusal;
use countersign_protocol::decisions::{OutcomeRequest, OutcomeStatus};

pub(super) struct ReportOutcome;

#[derive(Debug, serde::Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct ReportOutcomeArguments {
    /// Of the decision that was begun.
    decision_id: String,
    /// The outcome, or that it still runs.
    status: OutcomeStatus,
    /// As begin_action gave it; needed where several are under way.
    #[serde(default)]
    execution_id: Option<String>,
    /// The error, in words for a person.
    #[serde(default)]
    error_message: Option<String>,
}

impl Tool for ReportOutcome {
    type Arguments = ReportOutcomeArguments;
    type Answer = DecisionTold;

    const NAME: &'static str = "report_outcome";
    const TITLE: &'static str = "Say what became of it";
    const DESCRIPTION: &'static str = "Say what became of what begin_action let you do: committed if it happened, failed if it surely did \
        not; running while it still runs, before lease_until. If you do not know whether it happened, say \
        nothing and tell the person: it becomes unknown, and a person looks into it.";
    const HINTS: Hints = Hints::Repeatable;

    async fn call(call: &Call, said: ReportOutcomeArguments) -> Result<DecisionTold, Refusal> {
        let ReportOutcomeArguments { decision_id, status, execution_id, error_message } = said;
        let outcome = OutcomeRequest { status, execution_id, error_message };
        let reported = call.engine().report(&call.caller.at, &call.caller.agent, &decision_id, &outcome).await?;
        Ok(reported.into())
    }
}
