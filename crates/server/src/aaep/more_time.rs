//! `POST /aaep/v1/questions/{decision}/more-time`: extends a deadline for people in need of more time (AAEP 6.4.2).

use super::listener::listener;
use crate::{
    App,
    http::{answer::RefusalResponse, at::AtProject, body::Json, caller::Asker, request_id::RequestId},
    v1::DecisionId,
};
use axum::{
    extract::State,
    response::{IntoResponse as _, Response},
};
use countersign_engine::{Listener, NotCounted, ProjectAt, Refusal};
use countersign_protocol::{
    aaep::questions::{MoreTime, MoreTimeRequest},
    aap::error::ErrorEnvelope,
};

/// The protocol's longest time to answer: one day.
const MOST_S: i64 = 86_400;

#[utoipa::path(
    post,
    path = "/aaep/v1/questions/{decision}/more-time",
    tag = "subscribers",
    summary = "Ask for more time to answer a question",
    description = "The deadline moves by the requested seconds, up to the limit in the project's policy; the response has the new deadline. All approvers of the question are notified.",
    params(("decision" = String, Path), ("X-CSRF-Token" = Option<String>, Header, description = "Required with a sign-in session")),
    request_body = MoreTimeRequest,
    responses((status = 200, description = "The new deadline", body = MoreTime), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("session" = []), ("bearer" = []))
)]
pub(crate) async fn post(
    State(app): State<App>,
    AtProject(at): AtProject,
    id: RequestId,
    asker: Asker,
    DecisionId(decision_id): DecisionId,
    Json(asked): Json<MoreTimeRequest>,
) -> Result<Response, RefusalResponse> {
    let listener = match listener(&app, &at, &asker).await {
        Ok(listener) => listener,
        Err(why) => return Ok(why.response(&id)),
    };
    Ok(axum::Json(extend(&app, &at, &listener, decision_id, asked).await?).into_response())
}

async fn extend(
    app: &App,
    at: &ProjectAt,
    listener: &Listener,
    decision_id: String,
    asked: MoreTimeRequest,
) -> Result<MoreTime, Refusal> {
    if !(1..=MOST_S).contains(&asked.seconds) {
        return Err(Refusal::invalid(format!("seconds is an integer from 1 to {MOST_S}")));
    }
    if !listener.may_answer() {
        return Err(Refusal::NotAuthorized("this subscriber only listens".into()));
    }
    let deadline =
        app.engine.events().extend_deadline(at, listener, &decision_id, asked.seconds).await.map_err(refused)?;
    Ok(MoreTime { decision_id, deadline })
}

/// A question the caller may not see is reported as not found.
fn refused(why: NotCounted) -> Refusal {
    match why {
        NotCounted::Unknown | NotCounted::NotEntitled => Refusal::NotFound("there is no such question".into()),
        NotCounted::Refused(refusal) => refusal,
        settled => Refusal::Conflict(settled.to_string()),
    }
}
