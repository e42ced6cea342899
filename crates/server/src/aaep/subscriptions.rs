//! `POST /aaep/v1/subscriptions`: the handshake (AAEP 5). Every negative response is a `subscription.rejected` (S2).

use super::{
    listener::listener,
    message,
    rejected::{Rejected, malformed},
};
use crate::{
    App,
    http::{at::AtProject, caller::Asker},
};
use axum::{
    extract::{Request, State},
    response::{IntoResponse, Response},
};
use countersign_protocol::aaep::handshake::SubscriptionRequest;
use http::{HeaderValue, StatusCode, header};

#[utoipa::path(
    post,
    path = "/aaep/v1/subscriptions",
    tag = "subscribers",
    summary = "Subscribe to the events and questions of agents",
    description = "A subscription.request of AAEP 1.0. Location is the address of its events. Every refusal is a subscription.rejected document.",
    params(("X-CSRF-Token" = Option<String>, Header, description = "Required with a sign-in session")),
    request_body(content = Object, description = "A subscription.request"),
    responses((status = 201, description = "A subscription.accepted; Location is the stream of its events", body = Object), (status = "4XX", description = "A subscription.rejected with the reason", body = Object), (status = "5XX", description = "A subscription.rejected: server error", body = Object)),
    security(("session" = []), ("bearer" = []))
)]
pub(crate) async fn post(State(app): State<App>, AtProject(at): AtProject, asker: Asker, request: Request) -> Response {
    let subscribed = async {
        let listener = listener(&app, &at, &asker).await?;
        let message = message::read(request).await?;
        let asked = SubscriptionRequest::parse(&message).map_err(malformed)?;
        Ok::<_, Rejected>(app.engine.events().subscribe(&at, &listener, &asked).await?)
    };
    match subscribed.await {
        Err(rejected) => rejected.into_response(),
        Ok(accepted) => {
            let place = format!("{}/aaep/v1/events?subscription_id={}", at.prefix(), accepted.subscription_id);
            let mut response = (StatusCode::CREATED, axum::Json(accepted)).into_response();
            response.headers_mut().extend(HeaderValue::from_str(&place).ok().map(|place| (header::LOCATION, place)));
            response
        }
    }
}
