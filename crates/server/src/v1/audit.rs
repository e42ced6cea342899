//! The audit of a project for its auditors: a page as JSON, or everything as CSV or JSON lines.

use crate::{
    App,
    http::{
        answer::{ErrorResponses, RefusalResponse},
        at::AtProject,
        auditor::Auditor,
    },
};
use axum::{
    body::Body,
    extract::{Query, State, rejection::QueryRejection},
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use countersign_engine::{AuditSearch, Cursor, ProjectAt, Refusal};
use countersign_protocol::{
    audit::{AuditRecord, AuditRecords, csv_head},
    time::UnixMillis,
};
use futures_util::stream;
use http::{HeaderValue, header};

const DEFAULT_LIMIT: usize = 50;
const MAX_LIMIT: usize = 500;
/// Entries of an export that are in memory at a time.
const AT_ONCE: usize = 500;

#[derive(Debug, Default, serde::Deserialize)]
pub(crate) struct ProjectAuditParams {
    person: Option<String>,
    operator: Option<String>,
    agent: Option<String>,
    route: Option<String>,
    outcome: Option<String>,
    event_type: Option<String>,
    decision_id: Option<String>,
    from: Option<String>,
    to: Option<String>,
    limit: Option<String>,
    cursor: Option<String>,
    format: Option<String>,
}

#[utoipa::path(
    get, path = "/v1/audit", tag = "audit", security(("session" = []), ("bearer" = [])),
    summary = "The audit of the project: who decided what, how surely, and what became of it",
    description = "For people who audit or administer the project, and for admin keys. Oldest first, in the order of the log. A cursor is a position of the log: it loses no entry, and stays valid. An altered entry fits every filter.",
    params(("person" = Option<String>, Query, description = "A sign-in name: entries that name the person, and those of their agents"),
        ("operator" = Option<String>, Query, description = "The domain of an operator"),
        ("agent" = Option<String>, Query, description = "The id of a delegation, an AAP session, an API key or a service account"),
        ("route" = Option<String>, Query, description = "The id of a route, or the action of a route or a tool"),
        ("outcome" = Option<String>, Query, description = "A value of result, such as refused, expired, unknown or reconciled"),
        ("event_type" = Option<String>, Query), ("decision_id" = Option<String>, Query),
        ("from" = Option<String>, Query, format = DateTime, description = "Inclusive"),
        ("to" = Option<String>, Query, format = DateTime, description = "Exclusive"),
        ("limit" = Option<u32>, Query, minimum = 1, description = "Of a page: default 50, at most 500"),
        ("cursor" = Option<String>, Query, description = "next_cursor of a previous page"),
        ("format" = Option<String>, Query, description = "json for a page (the default); csv or jsonl for everything, streamed. A stream that breaks off was not complete")),
    responses((status = 200, description = "A page or an export", content((AuditRecords = "application/json"), (String = "text/csv"), (AuditRecord = "application/jsonl"))), ErrorResponses),
)]
pub(crate) async fn get(
    State(app): State<App>,
    AtProject(at): AtProject,
    auditor: Auditor,
    asked: Result<Query<ProjectAuditParams>, QueryRejection>,
) -> Result<Response, RefusalResponse> {
    let Query(asked) = asked.map_err(|_| Refusal::invalid("the query could not be read"))?;
    let (format, limit) = (ExportFormat::of(asked.format.as_deref())?, limit(asked.limit.as_deref())?);
    let cursor = Cursor::parse(asked.cursor.as_deref().unwrap_or_default());
    let cursor = cursor.ok_or_else(|| Refusal::invalid("cursor must be next_cursor of a previous page"))?;
    let search = asked.resolve()?;
    let limit = if format == ExportFormat::Page { limit } else { AT_ONCE };
    let page = app.engine.evidence().project_audit(&at, &auditor.reader, &search, &cursor, limit).await?;
    Ok(match format {
        ExportFormat::Page => axum::Json(page).into_response(),
        format => export(AuditExport { app, at, auditor, search, format, page: Some(page), begun: false }),
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExportFormat {
    Page,
    Csv,
    JsonLines,
}

impl ExportFormat {
    fn of(asked: Option<&str>) -> Result<Self, Refusal> {
        match asked {
            None | Some("json") => Ok(Self::Page),
            Some("csv") => Ok(Self::Csv),
            Some("jsonl") => Ok(Self::JsonLines),
            Some(_) => Err(Refusal::invalid("format must be json, csv or jsonl")),
        }
    }

    fn media_type(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Self::Page => "application/json",
            Self::Csv => "text/csv; charset=utf-8; header=present",
            Self::JsonLines => "application/jsonl",
        })
    }

    fn lines(self, entries: &[AuditRecord]) -> Option<String> {
        match self {
            Self::Csv => Some(entries.iter().map(AuditRecord::csv_line).collect()),
            _ => entries.iter().map(|entry| serde_json::to_string(entry).ok().map(|line| line + "\n")).collect(),
        }
    }
}

/// An export in progress: one page of the log is in memory, and the auditor is asked for again before the next one.
struct AuditExport {
    app: App,
    at: ProjectAt,
    auditor: Auditor,
    search: AuditSearch,
    format: ExportFormat,
    /// None after the last one.
    page: Option<AuditRecords>,
    begun: bool,
}

fn export(export: AuditExport) -> Response {
    let kind = export.format.media_type();
    let mut response = Body::from_stream(stream::unfold(export, AuditExport::next)).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

impl AuditExport {
    /// The next lines. An error breaks the response off, so that nobody takes a part for the whole.
    async fn next(mut self) -> Option<(Result<Bytes, std::io::Error>, Self)> {
        let page = self.page.take()?;
        let head = if self.begun || self.format != ExportFormat::Csv { String::new() } else { csv_head() };
        self.begun = true;
        let lines = self.format.lines(&page.entries);
        let following = if page.more { self.following(&page.next_cursor).await.map(Some) } else { Ok(None) };
        match (lines, following) {
            (Some(lines), Ok(following)) => {
                self.page = following;
                Some((Ok(Bytes::from(head + &lines)), self))
            }
            _ => Some((Err(std::io::Error::other("the audit could not be read to its end")), self)),
        }
    }

    async fn following(&mut self, cursor: &str) -> Result<AuditRecords, Refusal> {
        let reader = self.auditor.again(&self.app, &self.at).await?;
        let cursor = Cursor::parse(cursor).ok_or(Refusal::Internal)?;
        self.app.engine.evidence().project_audit(&self.at, &reader, &self.search, &cursor, AT_ONCE).await
    }
}

impl ProjectAuditParams {
    fn resolve(self) -> Result<AuditSearch, Refusal> {
        let given = |text: Option<String>| text.filter(|text| !text.is_empty());
        Ok(AuditSearch {
            person: given(self.person),
            operator: given(self.operator),
            agent: given(self.agent),
            route: given(self.route),
            outcome: given(self.outcome),
            event_type: given(self.event_type),
            decision_id: given(self.decision_id),
            from: given(self.from).map(|text| time("from", &text)).transpose()?,
            to: given(self.to).map(|text| time("to", &text)).transpose()?,
        })
    }
}

fn time(name: &str, text: &str) -> Result<UnixMillis, Refusal> {
    let why = || Refusal::invalid(format!("{name} must be an ISO 8601 date-time such as 2026-06-01T00:00:00Z"));
    UnixMillis::parse_rfc3339(text).ok_or_else(why)
}

/// A limit above the maximum is capped; zero and malformed limits are refused.
fn limit(text: Option<&str>) -> Result<usize, Refusal> {
    match text.map_or(Ok(DEFAULT_LIMIT), str::parse::<usize>) {
        Ok(asked) if asked > 0 => Ok(asked.min(MAX_LIMIT)),
        _ => Err(Refusal::invalid("limit must be a whole number from 1 to 500")),
    }
}
