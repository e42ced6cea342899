//! `POST /aaep/v1/replies`: people's answers, and messages about a subscription (AAEP 6.3, 6.5, 5.7, 5.8).
//!
//! The response depends only on the sender and on whether the message is well formed. The outcome of a reply is
//! published in later events, to entitled subscribers (R-9, C4).

use super::{
    listener::listener,
    message::{self, Incoming},
    rejected::Rejected,
};
use crate::{
    App,
    http::{
        answer::{ErrorResponses, RefusalResponse},
        at::AtProject,
        caller::Asker,
        request_id::RequestId,
    },
};
use axum::{
    extract::{Request, State},
    response::{IntoResponse, Response},
};
use countersign_engine::{Listener, ProjectAt, Refusal};
use http::StatusCode;

#[utoipa::path(
    post, path = "/aaep/v1/replies", tag = "subscribers", security(("session" = []), ("bearer" = [])),
    request_body(content = Object, description = "A reply, subscription.renegotiate or subscription.close"),
    summary = "Answer a question, or change or end a subscription",
    description = "A confirmation.reply, clarification.reply, subscription.renegotiate or subscription.close of AAEP 1.0. Every well-formed reply is answered with 204, regardless of its token and its effect; the following events carry the decision. A renegotiation is answered with subscription.accepted, or with subscription.rejected, which ends the subscription.",
    params(("X-CSRF-Token" = Option<String>, Header, description = "Required with a sign-in session")),
    responses((status = 200, description = "A subscription.accepted with the new terms", body = Object), (status = 204, description = "Taken"), ErrorResponses),
)]
pub(crate) async fn post(
    State(app): State<App>,
    AtProject(at): AtProject,
    id: RequestId,
    asker: Asker,
    request: Request,
) -> Result<Response, RefusalResponse> {
    let listener = match listener(&app, &at, &asker).await {
        Ok(listener) => listener,
        Err(why) => return Ok(why.response(&id)),
    };
    let read = message::read(request).await.and_then(|message| Incoming::parse(&message, false));
    match read {
        Err(why) => Ok(why.response(&id)),
        Ok(incoming) => Ok(take(&app, &at, &listener, incoming).await?),
    }
}

async fn take(app: &App, at: &ProjectAt, listener: &Listener, incoming: Incoming) -> Result<Response, Refusal> {
    match incoming {
        Incoming::Reply(reply) => app.engine.events().reply(at, listener, &reply, false).await?,
        Incoming::Close(close) => end(app, at, listener, &close.subscription_id).await?,
        Incoming::Renegotiate(changed) => {
            return Ok(match app.engine.events().renegotiate(at, listener, &changed).await {
                Ok(accepted) => axum::Json(accepted).into_response(),
                Err(rejected) => Rejected::from(rejected).into_response(),
            });
        }
    }
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Ends a subscription. The response is the same if it had already ended or belongs to another person.
pub(super) async fn end(app: &App, at: &ProjectAt, listener: &Listener, id: &str) -> Result<(), Refusal> {
    match app.engine.events().close_subscription(at, listener, id).await {
        Err(Refusal::Unavailable) => Err(Refusal::Unavailable),
        _ => Ok(()),
    }
}
