//! `/agents`: every agent that may act for a person.

use super::{answer, connection, places, visit::Visit};
use crate::{
    App,
    http::{answer::RefusalResponse, at::AtProject},
    pages::{AgentConnection, AgentsNotice, AgentsPage, Frame},
};
use axum::{
    extract::{Query, State},
    response::Response,
};
use countersign_engine::{ProjectAt, Refusal};
use http::StatusCode;
use std::collections::HashMap;

/// The action just taken, from the query: `?revoked=` or `?already=` with the delegation's id.
type RevokedQuery = Query<HashMap<String, String>>;

pub(super) async fn everywhere(
    State(app): State<App>,
    visit: Visit,
    asked: RevokedQuery,
) -> Result<Response, RefusalResponse> {
    let places = places::behind(&app, &visit, visit.person()?).await?;
    let frame = match places.as_slice() {
        [only] => visit.frame_of(&only.project),
        _ => visit.frame(&app).await,
    };
    Ok(list(&app, &visit, frame, &places, &asked).await?)
}

pub(super) async fn get(
    State(app): State<App>,
    AtProject(at): AtProject,
    visit: Visit,
    asked: RevokedQuery,
) -> Result<Response, RefusalResponse> {
    let frame = visit.frame_of(&at.project);
    Ok(list(&app, &visit, frame, &[at], &asked).await?)
}

async fn list(
    app: &App,
    visit: &Visit,
    frame: Frame,
    places: &[ProjectAt],
    asked: &HashMap<String, String>,
) -> Result<Response, Refusal> {
    let who = visit.person()?;
    let mut connections = Vec::new();
    for at in places {
        let found = app.engine.people().delegations_of(at.project.key, who.person.key).await?;
        for delegation in &found {
            connections.push(connection::of(app, at, delegation).await?);
        }
    }
    let notice = notice(asked, &connections);
    let page = AgentsPage { frame, connections, notice };
    Ok(answer::page(StatusCode::OK, &page.frame, &page))
}

/// The notice, checked against the connections: anybody can make up a URL.
fn notice(asked: &HashMap<String, String>, connections: &[AgentConnection]) -> Option<AgentsNotice> {
    let cut_off = |id: &String| connections.iter().find(|c| c.delegation_id == *id && connection::is_cut_off(c));
    let just_now = asked.get("revoked").and_then(cut_off);
    let before = asked.get("already").and_then(cut_off);
    match (just_now, before) {
        (Some(connection), _) => Some(AgentsNotice::Revoked { operator: connection.operator.clone() }),
        (None, Some(connection)) => Some(AgentsNotice::AlreadyRevoked { operator: connection.operator.clone() }),
        (None, None) => None,
    }
}
