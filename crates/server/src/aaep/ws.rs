//! `GET /aaep/v1/ws`: the same messages over a WebSocket, one text frame each (C18).

mod close;
mod proof;
mod session;

use super::listener::NoListener;
use crate::{
    App,
    http::{
        answer::{ErrorResponses, RefusalResponse},
        at::AtProject,
    },
    serve::ClientConnection,
};
use axum::{
    extract::{State, WebSocketUpgrade, ws::rejection::WebSocketUpgradeRejection},
    response::{IntoResponse, Response},
};
use countersign_engine::Refusal;
use countersign_protocol::aaep::limits::MAX_EVENT;
use http::{HeaderMap, header};
use proof::SocketProof;
use session::SocketSession;

/// The subprotocol of AAEP. A client that offers subprotocols must offer this one; without any, it is assumed.
const SUBPROTOCOL: &str = "aaep.v1";

#[utoipa::path(
    get, path = "/aaep/v1/ws", tag = "subscribers", security(("session" = []), ("bearer" = [])),
    summary = "Subscribe, receive events and answer over one WebSocket",
    description = "An upgrade to a WebSocket with the subprotocol aaep.v1; one text frame is one message. It begins with subscription.request; a client that sends another message first, or none for two seconds, gets a subscription with the default terms. Replies, subscription.renegotiate and subscription.close follow on the same socket; replies are not acknowledged, the following events carry the decision. The socket is closed with 4000 after a normal end, 4001 after a rejection, 4002 and 4003 if the sender is not authenticated or not entitled, 4004 after an invalid message, 4005 after subscription.close.",
    params(("Sec-WebSocket-Protocol" = Option<String>, Header, description = "aaep.v1")),
    responses((status = 101, description = "The socket"), ErrorResponses),
)]
pub(crate) async fn get(
    State(app): State<App>,
    AtProject(at): AtProject,
    headers: HeaderMap,
    on: ClientConnection,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, RefusalResponse> {
    speaks_aaep(&headers)?;
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade.protocols([SUBPROTOCOL]).max_message_size(MAX_EVENT).max_frame_size(MAX_EVENT),
        Err(rejection) => return Ok(rejection.into_response()),
    };
    let proven = match SocketProof::of(&app, &headers) {
        Ok(proof) => proof.listener(&app, &at).await.map(|listener| (proof, listener)),
        Err(why) => Err(why),
    };
    Ok(match proven {
        Ok((proof, _)) => upgrade.on_upgrade(move |socket| SocketSession::new(socket, app, at, proof, on).run()),
        Err(NoListener::Refused(Refusal::Unavailable)) => return Err(Refusal::Unavailable.into()),
        // A browser cannot read a failed upgrade, so the reason is sent over the socket.
        Err(why) => upgrade.on_upgrade(move |socket| close::turned_away(socket, why)),
    })
}

fn speaks_aaep(headers: &HeaderMap) -> Result<(), Refusal> {
    let offered = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL);
    let mut names = offered.iter().filter_map(|v| v.to_str().ok()).flat_map(|line| line.split(',')).map(str::trim);
    let none = offered.iter().next().is_none();
    if none || names.any(|name| name == SUBPROTOCOL) {
        return Ok(());
    }
    Err(Refusal::invalid(format!("the subprotocol must be {SUBPROTOCOL}")))
}
