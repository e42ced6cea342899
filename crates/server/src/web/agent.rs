//! `/agents/{delegation_id}`: one connection and its audit entries (AAP 7.1).

use super::{answer, connection, standing_approval, visit::Visit};
use crate::{
    App,
    http::{answer::RefusalResponse, at::AtProject},
    pages::{AgentPage, AgentsNotice, AuditRow, PlainLine, TaskRow, TaskScope},
};
use axum::{
    extract::{Path, Query, State},
    response::Response,
};
use countersign_engine::{Actor, AuditAsked, OpenAllowance, OpenTask, ProjectAt, Refusal};
use countersign_protocol::aap::{
    access_summary::{ExpandedBy, ExpandedScope},
    audit::AuditEntry,
    revoke::RollbackStatus,
};
use http::StatusCode;
use std::collections::HashMap;

const ENTRIES: usize = 50;

pub(super) async fn get(
    State(app): State<App>,
    AtProject(at): AtProject,
    visit: Visit,
    Path(path): Path<HashMap<String, String>>,
    Query(asked): Query<HashMap<String, String>>,
) -> Result<Response, RefusalResponse> {
    let who = visit.person()?;
    let delegation = connection::find(&app, &at, who, delegation_id(&path)?).await?;
    let member = Actor::Person(Box::new(app.engine.people().member(who, at.project.key).await?));
    let cursor = asked.get("cursor").cloned();
    let is_first_page = cursor.is_none();
    let wanted =
        AuditAsked { delegation_id: Some(delegation.id.clone()), limit: ENTRIES, cursor, ..AuditAsked::default() };
    let audit = app.engine.evidence().audit(&at, &member, &wanted).await?;
    let open = app.engine.decisions().open_allowances_under(at.project.key, std::slice::from_ref(&delegation)).await?;
    let standing =
        |open: &OpenAllowance| standing_approval::of(&at, &open.allowance, &open.decision, open.plan.as_ref());
    let beyond = app.engine.agents().scopes_beyond_receipts(&at, &delegation).await?;
    let page = AgentPage {
        frame: visit.frame_of(&at.project),
        standing: open.iter().map(standing).collect(),
        wider: beyond.iter().map(|expanded| wider(&at, expanded)).collect(),
        connection: connection::of(&app, &at, &delegation).await?,
        tasks: app.engine.agents().open_tasks(&delegation).await?.into_iter().map(task).collect(),
        entries: audit.entries.iter().map(row).collect(),
        total: audit.total_count,
        is_first_page,
        next_cursor: audit.next_cursor,
        csrf: visit.csrf(&app)?,
        notice: asked.get("ended").and_then(|status| RollbackStatus::parse(status)).map(AgentsNotice::TaskEnded),
    };
    Ok(answer::page(StatusCode::OK, &page.frame, &page))
}

fn wider(at: &ProjectAt, expanded: &ExpandedScope) -> TaskScope {
    TaskScope {
        scope: connection::scope(&at.project, &expanded.scope),
        session: PlainLine::cut(&expanded.session_id, 200),
        approved: expanded.by == ExpandedBy::Approval,
        since: expanded.since,
        until: expanded.expires_at,
    }
}

/// The parameters also hold the project's id where the path has one.
pub(super) fn delegation_id(path: &HashMap<String, String>) -> Result<&str, Refusal> {
    path.get("delegation_id").map(String::as_str).ok_or(Refusal::DelegationNotFound)
}

fn task(open: OpenTask) -> TaskRow {
    TaskRow { session_id: open.session_id, since: open.since, watched: open.watched }
}

/// An entry that is not a call has no method and path; its event type is shown instead of the path.
fn row(entry: &AuditEntry) -> AuditRow {
    let or_dash = |text: &Option<String>| PlainLine::from(text.as_deref().unwrap_or("–"));
    AuditRow {
        at: entry.timestamp,
        method: or_dash(&entry.method),
        path: PlainLine::cut(entry.path.as_deref().unwrap_or(&entry.event_type), 200),
        intent_type: entry.intent_type.as_deref().map(PlainLine::from),
        outcome: or_dash(&entry.outcome.clone().or_else(|| entry.reason.clone())),
        session: or_dash(&entry.session_id),
    }
}
