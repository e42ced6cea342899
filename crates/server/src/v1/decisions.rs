//! Actions, questions and decisions for agents: raise, poll, claim, report, withdraw.

use super::{AgentCaller, DecisionId, raised, refuse_problems};
use crate::{
    http::{
        answer::{ErrorResponses, JsonResult, RefusalResponse},
        body::Json,
    },
    serve::ClientConnection,
};
use axum::{
    extract::{Query, rejection::QueryRejection},
    response::Response,
};
use countersign_engine::Refusal;
use countersign_protocol::{
    aap::error::ErrorEnvelope,
    decisions::{
        ActionsDocument, ClaimRequest, ClarificationRequest, ConfirmationRequest, DecisionDocument, OutcomeRequest,
        WithdrawRequest,
    },
};
use std::time::Duration;

/// The actions an agent may ask for.
#[utoipa::path(
    get, path = "/v1/actions", tag = "decisions", security(("bearer" = [])),
    summary = "The actions that the agent may request",
    responses((status = 200, description = "Every action, with the project's policy for it", body = ActionsDocument), ErrorResponses),
)]
pub(crate) async fn actions(caller: AgentCaller) -> JsonResult<ActionsDocument> {
    Ok(axum::Json(caller.engine.decisions().actions(&caller.at, &caller.agent)))
}

/// An agent requests approval of one exactly defined action.
#[utoipa::path(
    post, path = "/v1/confirmations", tag = "decisions", security(("bearer" = [])),
    request_body = ConfirmationRequest,
    summary = "Request an approval of an action",
    responses((status = 201, description = "The question is pending", body = DecisionDocument), (status = 200, description = "The same question is already pending; nobody was asked again", body = DecisionDocument), ErrorResponses),
)]
pub(crate) async fn raise_confirmation(
    caller: AgentCaller,
    Json(body): Json<ConfirmationRequest>,
) -> Result<Response, RefusalResponse> {
    refuse_problems(&body.problems())?;
    Ok(raised(caller.engine.decisions().raise_confirmation(&caller.at, &caller.agent, &body).await?))
}

/// An agent asks a question instead of guessing.
#[utoipa::path(
    post, path = "/v1/clarifications", tag = "decisions", security(("bearer" = [])),
    request_body = ClarificationRequest,
    summary = "Ask people a question",
    responses((status = 201, description = "The question is pending", body = DecisionDocument), (status = 200, description = "The same question is already pending; nobody was asked again", body = DecisionDocument), ErrorResponses),
)]
pub(crate) async fn raise_clarification(
    caller: AgentCaller,
    Json(body): Json<ClarificationRequest>,
) -> Result<Response, RefusalResponse> {
    refuse_problems(&body.problems())?;
    Ok(raised(caller.engine.decisions().raise_clarification(&caller.at, &caller.agent, &body).await?))
}

pub(crate) const PATH: &str = "/v1/decisions/{decision}";
/// Below the minute after which proxies and clients give up.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_secs(55);

#[derive(Debug, serde::Deserialize)]
pub(crate) struct WaitQuery {
    wait: Option<String>,
}

/// The state of a decision, at once or by long poll until it is settled.
#[utoipa::path(
    get, path = "/v1/decisions/{decision}", tag = "decisions", security(("bearer" = [])),
    summary = "A decision, optionally after waiting for its settlement",
    params(("decision" = String, Path, description = "decision_id of the question"),
        ("wait" = Option<u32>, Query, minimum = 0, maximum = 55, description = "How many seconds to wait for a settlement; repeat the request if there was none")),
    responses((status = 200, description = "The current decision", body = DecisionDocument), ErrorResponses),
)]
pub(crate) async fn get(
    AgentCaller { engine, at, agent, token }: AgentCaller,
    DecisionId(id): DecisionId,
    mut connection: ClientConnection,
    asked: Result<Query<WaitQuery>, QueryRejection>,
) -> JsonResult<DecisionDocument> {
    let (wait, decisions) = (wait(asked)?, engine.decisions());
    if wait.is_zero() {
        return Ok(axum::Json(decisions.decision(&at, &agent, &id).await?));
    }
    // A node that stops answers its waiters with the current state; they ask again, here or at another node.
    let document = tokio::select! {
        settled = decisions.await_decision(&at, &token, &id, wait) => settled?,
        () = connection.is_to_end() => decisions.decision(&at, &agent, &id).await?,
    };
    Ok(axum::Json(document))
}

fn wait(asked: Result<Query<WaitQuery>, QueryRejection>) -> Result<Duration, Refusal> {
    let Query(asked) = asked.map_err(|_| Refusal::invalid("the query could not be read"))?;
    seconds_to_wait(asked.wait)
}

pub(crate) fn seconds_to_wait(asked: Option<String>) -> Result<Duration, Refusal> {
    let Some(text) = asked else { return Ok(Duration::ZERO) };
    let seconds = text.parse().ok().filter(|_| text.bytes().all(|b| b.is_ascii_digit())).map(Duration::from_secs);
    let why = || Refusal::invalid("wait must be a whole number of seconds from 0 to 55");
    seconds.filter(|wait| *wait <= LONGEST_WAIT).ok_or_else(why)
}

/// An agent claims an allowance right before it acts.
#[utoipa::path(
    post, path = "/v1/decisions/{decision}/claim", tag = "decisions", security(("bearer" = [])),
    request_body = ClaimRequest,
    summary = "Claim an approval, once, for exactly the approved call",
    params(("decision" = String, Path, description = "decision_id of the question")),
    responses((status = 200, description = "Claimed: carry it out now, once, and report the outcome", body = DecisionDocument), (status = "4XX", description = "Refused: the error envelope has the reason and the next step. Carry nothing out", body = ErrorEnvelope), (status = "5XX", description = "Server error. Carry nothing out; read the decision again", body = ErrorEnvelope)),
)]
pub(crate) async fn claim(
    caller: AgentCaller,
    DecisionId(id): DecisionId,
    Json(body): Json<ClaimRequest>,
) -> JsonResult<DecisionDocument> {
    Ok(axum::Json(caller.engine.decisions().claim(&caller.at, &caller.agent, &id, &body).await?))
}

/// An agent reports the outcome of a claimed call.
#[utoipa::path(
    post, path = "/v1/decisions/{decision}/outcome", tag = "decisions", security(("bearer" = [])),
    request_body = OutcomeRequest,
    summary = "Report the outcome of a claimed action, or that it is still running",
    params(("decision" = String, Path, description = "decision_id of the question")),
    responses((status = 200, description = "Recorded; the same report again changes nothing", body = DecisionDocument), ErrorResponses),
)]
pub(crate) async fn report_outcome(
    caller: AgentCaller,
    DecisionId(id): DecisionId,
    Json(body): Json<OutcomeRequest>,
) -> JsonResult<DecisionDocument> {
    Ok(axum::Json(caller.engine.decisions().report(&caller.at, &caller.agent, &id, &body).await?))
}

/// An agent withdraws its question (AAEP 6.8).
#[utoipa::path(
    post, path = "/v1/decisions/{decision}/withdraw", tag = "decisions", security(("bearer" = [])),
    request_body = WithdrawRequest,
    summary = "Withdraw a pending question",
    params(("decision" = String, Path, description = "decision_id of the question")),
    responses((status = 200, description = "Withdrawn; it can no longer be answered", body = DecisionDocument), ErrorResponses),
)]
pub(crate) async fn withdraw(
    caller: AgentCaller,
    DecisionId(id): DecisionId,
    Json(body): Json<WithdrawRequest>,
) -> JsonResult<DecisionDocument> {
    Ok(axum::Json(caller.engine.decisions().withdraw(&caller.at, &caller.agent, &id, &body).await?))
}
