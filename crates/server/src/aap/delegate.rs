//! The connection of an agent to a person: requested by its operator, granted by the person, exchanged for a token.

use crate::{
    App,
    http::{
        address::SourceNetwork,
        answer::{ErrorResponses, JsonResult, RefusalResponse},
        at::AtProject,
        body::Json,
        caller::Asker,
        version::{self, VersionHeader},
    },
    pages::pick_language,
};
use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use countersign_engine::is_service_account_proposed;
use countersign_protocol::aap::delegate::{
    ConnectRequestBody, ConnectRequestResponse, DelegateRequest, DelegateResponse, DeniedResponse, ExchangeRequest,
    ExchangeResponse, NotGranted,
};
use http::{StatusCode, header};

/// (AAP 17.2): the two steps behind the consent page, for a signed-in person only.
#[utoipa::path(
    post, path = "/agent/delegate", tag = "people", security(("session" = [])), request_body = DelegateRequest,
    summary = "Show the disclosure, then grant a delegation; an admin grants service accounts in the same two steps",
    params(("X-CSRF-Token" = String, Header, description = "The CSRF token of the sign-in session")),
    responses((status = 200, description = "The disclosure that the person must read first, or the denial of the request", body = NotGranted), (status = 201, description = "Granted", body = DelegateResponse), ErrorResponses),
)]
pub(crate) async fn delegate(
    State(app): State<App>,
    AtProject(at): AtProject,
    asker: Asker,
    Json(body): Json<DelegateRequest>,
) -> Result<Response, RefusalResponse> {
    version::check(&asker.headers, false)?;
    let who = asker.person()?;
    asker.own_page(&app, None)?;
    let member = app.engine.people().member(who, at.project.key).await?;
    if !body.approve {
        let redirect = app.engine.agents().deny(&at, &member, &body).await?;
        return Ok(axum::Json(NotGranted::Denied(DeniedResponse { denied: true, redirect })).into_response());
    }
    let language = pick_language(asker.headers.get(header::ACCEPT_LANGUAGE).and_then(|v| v.to_str().ok()));
    if is_service_account_proposed(&body) {
        if body.disclosure_id.is_none() {
            let shown = app.engine.agents().show_account(&at, &member, &body, language.tag()).await?;
            return Ok(axum::Json(NotGranted::ServiceAccount(Box::new(shown))).into_response());
        }
        let granted = app.engine.agents().grant_account(&at, &member, &body).await?;
        return Ok((StatusCode::CREATED, axum::Json(granted)).into_response());
    }
    if body.disclosure_id.is_none() {
        let shown = app.engine.agents().show_disclosure(&at, &member, &body, language.tag()).await?;
        return Ok(axum::Json(NotGranted::Shown(Box::new(shown))).into_response());
    }
    let granted = app.engine.agents().grant(&at, &member, &body).await?;
    Ok((StatusCode::CREATED, axum::Json(granted)).into_response())
}

/// an operator requests a delegation.
#[utoipa::path(
    post, path = "/agent/delegate/requests", tag = "operators", request_body = ConnectRequestBody,
    summary = "Request a connection to a person",
    params(("Aap-Version" = String, Header, description = "The protocol version of the agent", example = "2.0")),
    responses((status = 201, description = "The page on which the person answers", body = ConnectRequestResponse), ErrorResponses),
)]
pub(crate) async fn connect(
    State(app): State<App>,
    _spoken: VersionHeader,
    AtProject(at): AtProject,
    SourceNetwork(source): SourceNetwork,
    Json(body): Json<ConnectRequestBody>,
) -> Result<(StatusCode, axum::Json<ConnectRequestResponse>), RefusalResponse> {
    Ok((StatusCode::CREATED, axum::Json(app.engine.agents().connect(&at, &body, &source).await?)))
}

/// the operator exchanges its code.
#[utoipa::path(
    post, path = "/agent/delegate/token", tag = "operators", request_body = ExchangeRequest,
    summary = "Exchange the one-time code for the delegation token",
    params(("Aap-Version" = String, Header, description = "The protocol version of the agent", example = "2.0")),
    responses((status = 200, description = "The delegation token", body = ExchangeResponse), ErrorResponses),
)]
pub(crate) async fn exchange(
    State(app): State<App>,
    _spoken: VersionHeader,
    AtProject(at): AtProject,
    SourceNetwork(source): SourceNetwork,
    Json(body): Json<ExchangeRequest>,
) -> JsonResult<ExchangeResponse> {
    Ok(axum::Json(app.engine.agents().exchange(&at, &body, &source).await?))
}
