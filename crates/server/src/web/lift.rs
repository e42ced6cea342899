//! `/agents/{delegation_id}/lift`: a person lifts an agent's suspension after a restore (C-86, R-36).

use super::{agent::delegation_id, answer, connection, form::Form, visit::Visit};
use crate::{
    App,
    http::{answer::RefusalResponse, at::AtProject},
};
use axum::{
    extract::{Path, State},
    response::Response,
};
use countersign_engine::Actor;
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
    let member = Actor::Person(Box::new(app.engine.people().member(who, at.project.key).await?));
    app.engine.lift_delegation(&at.project, &delegation.id, Some(&member)).await?;
    Ok(answer::see_other(&format!("{}/agents/{}", at.prefix(), delegation.id)))
}
