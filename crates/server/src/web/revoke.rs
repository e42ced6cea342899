//! `/agents/{delegation_id}/revoke`: asks for confirmation, then revokes the delegation (AAP 8.2, C-98).

use super::{agent::delegation_id, answer, connection, form::Form, visit::Visit};
use crate::{
    App,
    http::{answer::RefusalResponse, at::AtProject},
    pages::RevokePage,
};
use axum::{
    extract::{Path, State},
    response::Response,
};
use countersign_engine::{Actor, Delegation, ProjectAt, Reason, Refusal};
use countersign_protocol::aap::revoke::RevokeRequest;
use http::StatusCode;
use std::collections::HashMap;

pub(super) async fn get(
    State(app): State<App>,
    AtProject(at): AtProject,
    visit: Visit,
    Path(path): Path<HashMap<String, String>>,
) -> Result<Response, RefusalResponse> {
    let delegation = connection::find(&app, &at, visit.person()?, delegation_id(&path)?).await?;
    if !connection::is_live(&delegation, app.engine.now()) {
        return Ok(answer::see_other(&format!("{}/agents?already={}", at.prefix(), delegation.id)));
    }
    Ok(shown(&app, &at, &visit, &delegation, StatusCode::OK).await?)
}

pub(super) async fn post(
    State(app): State<App>,
    AtProject(at): AtProject,
    visit: Visit,
    Path(path): Path<HashMap<String, String>>,
    form: Form,
) -> Result<Response, RefusalResponse> {
    let who = visit.person()?;
    let delegation = connection::find(&app, &at, who, delegation_id(&path)?).await?;
    if let Err(refusal) = visit.own_form(&app, form.field("csrf")) {
        app.metrics.refused(refusal.code());
        return Ok(shown(&app, &at, &visit, &delegation, StatusCode::FORBIDDEN).await?);
    }
    let was_live = connection::is_live(&delegation, app.engine.now());
    let member = Actor::Person(Box::new(app.engine.people().member(who, at.project.key).await?));
    let body = RevokeRequest {
        delegation_id: Some(delegation.id.clone()),
        reason: Some(Reason::UserRequested.as_str().to_owned()),
        ..RevokeRequest::default()
    };
    app.engine.agents().revoke(&at, &member, &body).await?;
    let done = if was_live { "revoked" } else { "already" };
    Ok(answer::see_other(&format!("{}/agents?{done}={}", at.prefix(), delegation.id)))
}

async fn shown(
    app: &App,
    at: &ProjectAt,
    visit: &Visit,
    delegation: &Delegation,
    status: StatusCode,
) -> Result<Response, Refusal> {
    let page = RevokePage {
        frame: visit.frame_of(&at.project),
        connection: connection::of(app, at, delegation).await?,
        csrf: visit.csrf(app)?,
        form_expired: status == StatusCode::FORBIDDEN,
    };
    Ok(answer::page(status, &page.frame, &page))
}
