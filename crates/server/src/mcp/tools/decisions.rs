//! The tools for decisions: ask a person, wait, act and report, as the endpoints of `/v1`.

use super::next;
use crate::{
    mcp::tool::{Hints, Tool, ToolCall},
    v1::{decisions::LONGEST_WAIT, refuse_problems},
};
use countersign_engine::Refusal;
use countersign_protocol::decisions::{
    ActionsDocument, ClaimRequest, ClarificationRequest, ConfirmationRequest, DecisionDocument, OutcomeRequest,
    OutcomeStatus, WithdrawRequest,
};
use serde_json::{Map, Value};
use std::time::Duration;

pub(super) struct RequestConfirmation;

impl Tool for RequestConfirmation {
    type Arguments = ConfirmationRequest;
    type Answer = DecisionTold;

    const NAME: &'static str = "request_confirmation";
    const TITLE: &'static str = "Request confirmation";
    const DESCRIPTION: &'static str = "Ask a person to approve one exactly defined action, before you do it: anything \
        that is irreversible, costs money, or speaks for a person. Name the tool and its exact arguments: an approval \
        covers these and no others. It returns at once, nearly always pending: show the person the link in page, where \
        they decide, then call await_decision. Requesting the same again returns the same question.";
    const HINTS: Hints = Hints::Repeatable;

    async fn call(call: &ToolCall, question: ConfirmationRequest) -> Result<DecisionTold, Refusal> {
        refuse_problems(&question.problems())?;
        let raised =
            call.engine().decisions().raise_confirmation(&call.caller.at, &call.caller.agent, &question).await?;
        Ok(raised.document.into())
    }
}

const USUAL_WAIT: Duration = Duration::from_secs(25);

pub(super) struct AwaitDecision;

#[derive(Debug, serde::Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct AwaitDecisionArguments {
    /// The decision_id from the tool that asked.
    decision_id: String,
    /// How many seconds to wait for a decision; default 25. 0 does not wait.
    #[serde(default)]
    #[schema(minimum = 0, maximum = 55)]
    wait_seconds: Option<u32>,
}

impl Tool for AwaitDecision {
    type Arguments = AwaitDecisionArguments;
    type Answer = DecisionTold;

    const NAME: &'static str = "await_decision";
    const TITLE: &'static str = "Wait for a decision";
    const DESCRIPTION: &'static str = "Wait until a person has decided about request_confirmation or propose_plan, or \
        answered request_clarification. pending is neither an approval nor a rejection: call this again, now or later. \
        On accepted call begin_action, on answered follow response, on anything else do not do it: reason may explain \
        it. Neither you nor your user can decide here: people decide on the page linked in page.";
    const HINTS: Hints = Hints::Reads;

    async fn call(call: &ToolCall, asked: AwaitDecisionArguments) -> Result<DecisionTold, Refusal> {
        let wait = asked.wait_seconds.map_or(USUAL_WAIT, |seconds| Duration::from_secs(seconds.into()));
        if wait > LONGEST_WAIT {
            return Err(Refusal::invalid("wait_seconds: must be a whole number from 0 to 55"));
        }
        Ok(waited(call, &asked.decision_id, wait).await?.into())
    }
}

async fn waited(call: &ToolCall, id: &str, wait: Duration) -> Result<DecisionDocument, Refusal> {
    let decisions = call.engine().decisions();
    let (at, agent, token) = (&call.caller.at, &call.caller.agent, &call.caller.token);
    if wait.is_zero() {
        return decisions.decision(at, agent, id).await;
    }
    let mut connection = call.connection.clone();
    // A node that stops answers its waiters with the current state; they ask again, here or at another node.
    tokio::select! {
        settled = decisions.await_decision(at, token, id, wait) => settled,
        () = connection.is_to_end() => decisions.decision(at, agent, id).await,
    }
}

pub(super) struct BeginAction;

#[derive(Debug, serde::Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct BeginActionArguments {
    /// The accepted decision.
    decision_id: String,
    /// The tool named in the question.
    #[serde(default)]
    tool: Option<String>,
    /// The exact arguments of the upcoming call.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    arguments: Option<Map<String, Value>>,
    /// Instead of both, if the question named no tool: the decision's digest.
    #[serde(default)]
    digest: Option<String>,
}

impl Tool for BeginAction {
    type Arguments = BeginActionArguments;
    type Answer = DecisionTold;

    const NAME: &'static str = "begin_action";
    const TITLE: &'static str = "Begin an approved action";
    const DESCRIPTION: &'static str = "Claim an accepted decision, right before you act. Repeat the tool and the \
        arguments exactly as you will use them: an approval of one call cannot be claimed for another, and usually \
        only once. If this is refused, or if you get no response, do not act. Then call report_outcome.";
    const HINTS: Hints = Hints::Counts;

    async fn call(call: &ToolCall, said: BeginActionArguments) -> Result<DecisionTold, Refusal> {
        let BeginActionArguments { decision_id, tool, arguments, digest } = said;
        let claim = ClaimRequest { tool, arguments, digest };
        let claimed =
            call.engine().decisions().claim(&call.caller.at, &call.caller.agent, &decision_id, &claim).await?;
        Ok(claimed.into())
    }
}

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

pub(super) struct RequestClarification;

impl Tool for RequestClarification {
    type Arguments = ClarificationRequest;
    type Answer = DecisionTold;

    const NAME: &'static str = "request_clarification";
    const TITLE: &'static str = "Ask a question";
    const DESCRIPTION: &'static str = "Ask a person for missing information, instead of guessing: free text, yes or \
        no, a number, or one of several choices. It returns at once with a decision_id; show the person the link in \
        page, and call await_decision: response is their answer. It permits nothing: for that call \
        request_confirmation.";
    const HINTS: Hints = Hints::Repeatable;

    async fn call(call: &ToolCall, question: ClarificationRequest) -> Result<DecisionTold, Refusal> {
        refuse_problems(&question.problems())?;
        let raised =
            call.engine().decisions().raise_clarification(&call.caller.at, &call.caller.agent, &question).await?;
        Ok(raised.document.into())
    }
}

pub(super) struct WithdrawQuestion;

#[derive(Debug, serde::Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct WithdrawQuestionArguments {
    /// The pending question.
    decision_id: String,
    /// Why, for the people who were asked.
    #[serde(default)]
    reason: Option<String>,
}

impl Tool for WithdrawQuestion {
    type Arguments = WithdrawQuestionArguments;
    type Answer = DecisionTold;

    const NAME: &'static str = "withdraw_question";
    const TITLE: &'static str = "Withdraw a question";
    const DESCRIPTION: &'static str = "Withdraw a pending question of yours: a confirmation, a clarification, or the \
        one about a proposed plan, which becomes a draft again.";
    const HINTS: Hints = Hints::Counts;

    async fn call(call: &ToolCall, said: WithdrawQuestionArguments) -> Result<DecisionTold, Refusal> {
        let WithdrawQuestionArguments { decision_id, reason } = said;
        let reason = WithdrawRequest { reason };
        let withdrawn =
            call.engine().decisions().withdraw(&call.caller.at, &call.caller.agent, &decision_id, &reason).await?;
        Ok(withdrawn.into())
    }
}

pub(super) struct ListActions;

#[derive(Debug, serde::Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct ListActionsArguments {}

impl Tool for ListActions {
    type Arguments = ListActionsArguments;
    type Answer = ActionsDocument;

    const NAME: &'static str = "list_actions";
    const TITLE: &'static str = "List actions";
    const DESCRIPTION: &'static str = "The actions that you may name as tool in request_confirmation and in plans, \
        with their risk and reversibility.";
    const HINTS: Hints = Hints::Reads;

    async fn call(call: &ToolCall, _: ListActionsArguments) -> Result<ActionsDocument, Refusal> {
        Ok(call.engine().decisions().actions(&call.caller.at, &call.caller.agent))
    }
}

#[derive(Debug, serde::Serialize, utoipa::ToSchema)]
pub(in crate::mcp) struct DecisionTold {
    #[serde(flatten)]
    decision: DecisionDocument,
    /// The next step, in words.
    next: String,
}

impl From<DecisionDocument> for DecisionTold {
    fn from(decision: DecisionDocument) -> Self {
        Self { next: next::after(&decision), decision }
    }
}
