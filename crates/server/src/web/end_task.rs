//! `/agents/{delegation_id}/end-task`: a person ends one task of an agent, and leaves the agent its access (AAP 12.2).

use super::{agent::delegation_id, answer, connection, form::Form, visit::Visit};
use crate::{
    App,
    http::{answer::RefusalResponse, at::AtProject},
};
use axum::{
    extract::{Path, State},
    response::Response,
};
use std::collections::HashMap;

pub(super) async fn post(
    State(app): State<App>,
    AtProject(at): AtProject,
    visit: Visit,
    Path(path): Path<HashMap<String, String>>,
    form: Form,
) -> Result<Response, RefusalResponse> {
    let who = visit.person()?;
    let delegation = connection::find(&app, &at, who, delegation_id(&path)?).await?;
    visit.own_form(&app, form.field("csrf"))?;
    let member = app.engine.people().member(who, at.project.key).await?;
    let ended = app.engine.agents().end_task(&at.project, &member, &delegation, form.field("session_id")).await?;
    let to = format!("{}/agents/{}?ended={}", at.prefix(), delegation.id, ended.rollback_status.as_str());
    Ok(answer::see_other(&to))
}
