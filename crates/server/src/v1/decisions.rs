//! `GET /v1/decisions/{decision}?wait=`: the state of a decision, at once or by long poll until it is settled.

use super::{AgentCaller, DecisionId};
use crate::{App, http::answer::RefusalResponse, serve::ClientConnection};
use axum::extract::{Query, State, rejection::QueryRejection};
use countersign_engine::Refusal;
use countersign_protocol::aap::error::ErrorEnvelope;
use countersign_protocol::decisions::DecisionDocument;
use std::time::Duration;

pub(crate) const PATH: &str = "/v1/decisions/{decision}";
/// Below the minute after which proxies and clients give up.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_secs(55);

#[derive(Debug, serde::Deserialize)]
pub(crate) struct WaitQuery {
    wait: Option<String>,
}

#[utoipa::path(
    get,
    path = "/v1/decisions/{decision}",
    tag = "decisions",
    summary = "A decision, optionally after waiting for its settlement",
    params(("decision" = String, Path, description = "decision_id of the question"),
        ("wait" = Option<u32>, Query, minimum = 0, maximum = 55, description = "How many seconds to wait for a settlement; repeat the request if there was none")),
    responses((status = 200, description = "The current decision", body = DecisionDocument), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("bearer" = []))
)]
pub(crate) async fn get(
    State(app): State<App>,
    AgentCaller { at, agent, token }: AgentCaller,
    DecisionId(id): DecisionId,
    mut connection: ClientConnection,
    asked: Result<Query<WaitQuery>, QueryRejection>,
) -> Result<axum::Json<DecisionDocument>, RefusalResponse> {
    let (wait, decisions) = (wait(asked)?, app.engine.decisions());
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
    let Some(text) = asked.wait else { return Ok(Duration::ZERO) };
    let seconds = text.parse().ok().filter(|_| text.bytes().all(|b| b.is_ascii_digit())).map(Duration::from_secs);
    let why = || Refusal::invalid("wait must be a whole number of seconds from 0 to 55");
    seconds.filter(|wait| *wait <= LONGEST_WAIT).ok_or_else(why)
}
