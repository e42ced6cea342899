//! A person's pending questions: read by a subscriber that has just started, and given more time (AAEP 6.4.2).

use super::listener::listener;
use crate::{
    App,
    http::{
        answer::{ErrorResponses, RefusalResponse},
        at::AtProject,
        body::Json,
        caller::Asker,
        request_id::RequestId,
    },
    v1::DecisionId,
};
use axum::{
    extract::State,
    response::{IntoResponse as _, Response},
};
use countersign_engine::{Listener, NotCounted, ProjectAt, Refusal};
use countersign_protocol::{
    aaep::questions::{MoreTime, MoreTimeRequest, Questions},
    aap::undo::{UndoCallRequest, UndoResponse},
};

/// The person's pending questions, for a subscriber that has just started.
#[utoipa::path(
    get, path = "/aaep/v1/questions", tag = "subscribers", security(("session" = []), ("bearer" = [])),
    summary = "The pending questions that a person may see",
    description = "Oldest first, without reply tokens: subscribers receive those with the events.",
    responses((status = 200, description = "The pending questions", body = Questions), ErrorResponses),
)]
pub(crate) async fn list(
    State(app): State<App>,
    AtProject(at): AtProject,
    id: RequestId,
    asker: Asker,
) -> Result<Response, RefusalResponse> {
    match listener(&app, &at, &asker).await {
        Ok(listener) => {
            let questions = app.engine.events().questions_for(&at, &listener).await?;
            Ok(axum::Json(Questions { questions }).into_response())
        }
        Err(why) => Ok(why.response(&id)),
    }
}

/// The protocol's longest time to answer: one day.
const MOST_S: i64 = 86_400;

/// Extends a deadline for people in need of more time (AAEP 6.4.2).
#[utoipa::path(
    post, path = "/aaep/v1/questions/{decision}/more-time", tag = "subscribers",
    security(("session" = []), ("bearer" = [])), request_body = MoreTimeRequest,
    summary = "Ask for more time to answer a question",
    description = "The deadline moves by the requested seconds, up to the limit in the project's policy; the response has the new deadline. All approvers of the question are notified.",
    params(("decision" = String, Path), ("X-CSRF-Token" = Option<String>, Header, description = "Required with a sign-in session")),
    responses((status = 200, description = "The new deadline", body = MoreTime), ErrorResponses),
)]
pub(crate) async fn more_time(
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

/// Undoes an approved call within its undo window (AAP 14.1).
#[utoipa::path(
    post, path = "/aaep/v1/questions/{decision}/undo", tag = "subscribers",
    security(("session" = []), ("bearer" = [])), request_body = UndoCallRequest,
    summary = "Undo an approved call within its undo window",
    params(("decision" = String, Path), ("X-CSRF-Token" = Option<String>, Header, description = "Required with a sign-in session")),
    responses((status = 200, description = "The call is undone: it was not sent and never will be, or the service undid it", body = UndoResponse), ErrorResponses),
)]
pub(crate) async fn undo(
    State(app): State<App>,
    AtProject(at): AtProject,
    id: RequestId,
    asker: Asker,
    DecisionId(decision_id): DecisionId,
    Json(body): Json<UndoCallRequest>,
) -> Result<Response, RefusalResponse> {
    let listener = match listener(&app, &at, &asker).await {
        Ok(listener) => listener,
        Err(why) => return Ok(why.response(&id)),
    };
    if !listener.may_answer() {
        return Err(Refusal::NotAuthorized("this subscriber only listens".into()).into());
    }
    Ok(axum::Json(app.engine.events().undo(&at, &listener, &decision_id, body.call_id.as_deref()).await?)
        .into_response())
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
