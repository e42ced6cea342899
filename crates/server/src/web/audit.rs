//! `/audit`: the audit of a project for its auditors, and the timeline of one decision.

use super::{answer, visit::Visit};
use crate::{
    App,
    http::{answer::RefusalResponse, at::AtProject},
    pages::{PlainLine, ProjectAuditEntry, ProjectAuditPage, SoughtEntries},
};
use axum::{
    extract::{Query, State},
    response::Response,
};
use countersign_engine::{AuditOutcome, AuditSearch, Cursor, ProjectReader, Refusal, Tenancy};
use countersign_protocol::audit::AuditRecord;
use http::StatusCode;
use std::collections::HashMap;

const ENTRIES: usize = 50;

pub(super) async fn get(
    State(app): State<App>,
    AtProject(at): AtProject,
    visit: Visit,
    Query(asked): Query<HashMap<String, String>>,
) -> Result<Response, RefusalResponse> {
    let member = app.engine.people().member(visit.person()?, at.project.key).await?;
    let reader = ProjectReader::Person(Box::new(member));
    let given = |name: &str| asked.get(name).cloned().unwrap_or_default();
    let sought = SoughtEntries { person: given("person"), outcome: given("outcome"), decision: given("decision") };
    let cursor = Cursor::parse(&given("cursor")).ok_or_else(|| Refusal::invalid("this is no cursor of the audit"))?;
    let found = app.engine.evidence().project_audit(&at, &reader, &search(&sought), &cursor, ENTRIES).await?;
    let page = ProjectAuditPage {
        frame: visit.frame_of(&at.project),
        prefix: match app.engine.settings().tenancy {
            Tenancy::Single => String::new(),
            Tenancy::Multi => format!("/projects/{}", at.project.id),
        },
        sought,
        outcomes: AuditOutcome::ALL.iter().map(|outcome| outcome.as_str()).collect(),
        entries: found.entries.iter().map(entry).collect(),
        next_cursor: found.more.then_some(found.next_cursor),
    };
    Ok(answer::page(StatusCode::OK, &page.frame, &page))
}

fn search(sought: &SoughtEntries) -> AuditSearch {
    let given = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    AuditSearch {
        person: given(&sought.person),
        outcome: given(&sought.outcome),
        decision_id: given(&sought.decision),
        ..AuditSearch::default()
    }
}

fn entry(record: &AuditRecord) -> ProjectAuditEntry {
    let first =
        |names: &[&str]| names.iter().find_map(|name| record.member(name)).map(|text| PlainLine::cut(&text, 120));
    ProjectAuditEntry {
        at: record.timestamp,
        result: AuditOutcome::parse(&record.result).unwrap_or(AuditOutcome::Recorded).as_str(),
        event: PlainLine::from(record.event_type.as_str()),
        who: first(&["decided_by", "approved_by", "acting_for", "account_id", "subject"]),
        how: how(record),
        what: first(&["action", "tool", "outcome", "reason"]),
        decision_id: record.member("decision_id"),
        altered: record.evidence_fault.is_some(),
    }
}

/// For example `fresh (password, 120 s before), page`: the words of the evidence, which are the same in every language.
fn how(record: &AuditRecord) -> Option<PlainLine> {
    let proven = record.member("proven_by").zip(record.member("proven_seconds_before"));
    let proven = proven.map(|(by, seconds)| format!(" ({by}, {seconds} s before)")).unwrap_or_default();
    let sure = record.member("assurance").map(|assurance| assurance + &proven);
    let parts: Vec<String> = sure.into_iter().chain(record.member("via")).collect();
    (!parts.is_empty()).then(|| PlainLine::cut(&parts.join(", "), 120))
}
