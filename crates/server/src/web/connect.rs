//! `/connect/{request}`: an operator requests a delegation, a person approves or denies it (AAP 5.1, 13.2; R-13).

use super::{
    answer,
    consent::{self, ConsentRequest},
    form::Form,
    service_account,
    visit::Visit,
};
use crate::{
    App,
    http::answer::RefusalResponse,
    pages::{ConnectEnd, ConnectEndedPage, ConnectError, ConnectPage, ConnectedPage, Frame, OwnRules},
};
use axum::{
    extract::{Path, State},
    response::Response,
};
use countersign_engine::{ConnectProgress, Mode, Refusal};
use countersign_protocol::aap::{
    delegate::{DelegateRequest, DelegateResponse},
    error::Code,
};
use http::StatusCode;

pub(super) async fn get(
    State(app): State<App>,
    visit: Visit,
    Path(request): Path<String>,
) -> Result<Response, RefusalResponse> {
    over_or(&app, &visit, &request, show(&app, &visit, &request).await).await
}

pub(super) async fn post(
    State(app): State<App>,
    visit: Visit,
    Path(request): Path<String>,
    form: Form,
) -> Result<Response, RefusalResponse> {
    over_or(&app, &visit, &request, settle(&app, &visit, &request, &form).await).await
}

async fn show(app: &App, visit: &Visit, request: &str) -> Result<Response, Refusal> {
    let asked = ConsentRequest::load(app, visit, request).await?;
    if asked.request.mode == Mode::ServiceAccount {
        return service_account::show(app, visit, &asked).await;
    }
    let query = Form::of_query(&visit.uri)?;
    let page = asked.page(app, visit, own_rules(&query)).await?;
    Ok(consent::sent(&asked, &page))
}

async fn settle(app: &App, visit: &Visit, request: &str, form: &Form) -> Result<Response, Refusal> {
    let asked = ConsentRequest::load(app, visit, request).await?;
    if asked.request.mode == Mode::ServiceAccount {
        return service_account::settle(app, visit, &asked, form).await;
    }
    if visit.own_form(app, form.field("csrf")).is_err() {
        return again(app, &asked, asked.page(app, visit, own_rules(form)).await?, ConnectError::FormExpired);
    }
    match form.field("answer") {
        "deny" => deny(app, visit, &asked).await,
        "approve" => approve(app, visit, &asked, form).await,
        _ => Err(Refusal::invalid("answer must be approve or deny")),
    }
}

fn own_rules(form: &Form) -> OwnRules {
    OwnRules::read(|name| form.field(name).to_owned())
}

/// Denies the request, and redirects to the operator's callback if there is one.
pub(super) async fn deny(app: &App, visit: &Visit, asked: &ConsentRequest) -> Result<Response, Refusal> {
    let body = DelegateRequest { approve: false, ..asked.body() };
    if let Some(redirect) = app.engine.agents().deny(&asked.at, &asked.member, &body).await? {
        return Ok(answer::see_other(&redirect));
    }
    let end = ConnectEnd::Denied { operator: asked.operator() };
    Ok(ended(visit.frame_of(&asked.at.project), end, StatusCode::OK))
}

/// An approval is valid only for the exact page: it is rendered again and compared before the engine is called.
async fn approve(app: &App, visit: &Visit, asked: &ConsentRequest, form: &Form) -> Result<Response, Refusal> {
    let page = asked.page(app, visit, own_rules(form)).await?;
    if let Some(error) = page.error {
        return again(app, asked, page, error);
    }
    if form.field("acknowledged_disclosure") != "true" {
        return again(app, asked, page, ConnectError::NotAcknowledged);
    }
    if form.field("shown") != page.shown().digest.hex() {
        return again(app, asked, page, ConnectError::ChangedSince);
    }
    let body = DelegateRequest {
        disclosure_id: Some(form.field("disclosure_id").to_owned()),
        acknowledged_disclosure: true,
        ..asked.body()
    };
    match app.engine.agents().grant(&asked.at, &asked.member, &body).await {
        Ok(granted) => connected(app, visit, asked, granted).await,
        // The disclosure named by the form is too old, already used or another person's.
        Err(Refusal::InvalidRequest(_)) => again(app, asked, page, ConnectError::FormExpired),
        Err(refusal) => Err(refusal),
    }
}

/// The browser gets only the code: the token is for the operator alone.
pub(super) async fn connected(
    app: &App,
    visit: &Visit,
    asked: &ConsentRequest,
    granted: DelegateResponse,
) -> Result<Response, Refusal> {
    if let Some(redirect) = granted.redirect {
        return Ok(answer::see_other(&redirect));
    }
    let settled = app.engine.agents().connectable(&asked.request.id).await?.request;
    let page = ConnectedPage {
        frame: visit.frame_of(&asked.at.project),
        operator: asked.operator(),
        code: granted.code.unwrap_or_default(),
        code_expires_at: match settled.progress {
            ConnectProgress::Approved { code_expires_at, .. } => code_expires_at,
            _ => app.engine.now(),
        },
        prefix: asked.at.prefix(),
        // Nobody owns a service account, so it is on no person's page.
        delegation_id: Some(granted.delegation_id).filter(|_| asked.request.mode == Mode::UserDelegated),
    };
    Ok(answer::page(StatusCode::OK, &page.frame, &page))
}

fn again(app: &App, asked: &ConsentRequest, page: ConnectPage, error: ConnectError) -> Result<Response, Refusal> {
    app.metrics.refused(match error {
        ConnectError::FormExpired => Code::CsrfRejected,
        ConnectError::NotAcknowledged | ConnectError::ChangedSince | ConnectError::BadRule { .. } => {
            Code::InvalidRequest
        }
    });
    Ok(consent::sent(asked, &ConnectPage { error: Some(error), ..page }))
}

/// Replaces the refusal of a settled request with a page that gives the reason.
async fn over_or(
    app: &App,
    visit: &Visit,
    request: &str,
    answered: Result<Response, Refusal>,
) -> Result<Response, RefusalResponse> {
    let Err(refusal @ Refusal::ConnectRequestGone(_)) = answered else { return Ok(answered?) };
    app.metrics.refused(refusal.code());
    let Ok(asked) = ConsentRequest::load(app, visit, request).await else {
        return Ok(ended(visit.frame(app).await, ConnectEnd::Gone, StatusCode::NOT_FOUND));
    };
    let end = asked.end(app.engine.now()).unwrap_or(ConnectEnd::Gone);
    Ok(ended(visit.frame_of(&asked.at.project), end, StatusCode::GONE))
}

fn ended(frame: Frame, end: ConnectEnd, status: StatusCode) -> Response {
    let page = ConnectEndedPage { frame, end };
    answer::page(status, &page.frame, &page)
}
