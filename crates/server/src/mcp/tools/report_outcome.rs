//! `report_outcome`: `POST /v1/decisions/{decision}/outcome` as a tool.

use super::responses::DecisionTold;
use crate::mcp::tool::{Hints, Tool, ToolCall};
use countersign_engine::Refusal;
use countersign_protocol::decisions::{OutcomeRequest, OutcomeStatus};

pub(super) struct ReportOutcome;

#[derive(Debug, serde::Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct ReportOutcomeArguments {
    /// The decision of the action.
    decision_id: String,
    /// The outcome, or running.
    status: OutcomeStatus,
    /// From begin_action; needed if several are in progress.
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
    const TITLE: &'static str = "Report an outcome";
    const DESCRIPTION: &'static str = "Report the outcome of an action after begin_action: committed if it happened, \
        failed if it certainly did not; running while it still runs, before lease_until. If you do not know whether it \
        happened, report nothing and tell the person: the outcome becomes unknown, and a person checks it.";
    const HINTS: Hints = Hints::Repeatable;

    async fn call(call: &ToolCall, said: ReportOutcomeArguments) -> Result<DecisionTold, Refusal> {
        let ReportOutcomeArguments { decision_id, status, execution_id, error_message } = said;
        let outcome = OutcomeRequest { status, execution_id, error_message };
        let reported =
            call.engine().decisions().report(&call.caller.at, &call.caller.agent, &decision_id, &outcome).await?;
        Ok(reported.into())
    }
}
