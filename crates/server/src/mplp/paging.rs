//! Paging parameters.

use axum::extract::{FromRequestParts, Query};
use countersign_engine::{Cursor, Refusal};
use countersign_protocol::ids::RowKey;
use http::request::Parts;

use crate::http::answer::RefusalResponse;

const DEFAULT_LIMIT: i64 = 50;
const MAX_LIMIT: i64 = 200;

#[derive(Debug, Default, serde::Deserialize)]
struct PageQuery {
    limit: Option<String>,
    before: Option<String>,
    after: Option<String>,
}

/// A page of a list, newest first.
pub(crate) struct Newest {
    pub(super) before: Option<RowKey>,
    pub(super) limit: i64,
}

/// A page of events, oldest first.
pub(crate) struct Since {
    pub(super) after: Cursor,
    pub(super) limit: usize,
}

impl<S: Sync> FromRequestParts<S> for Newest {
    type Rejection = RefusalResponse;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, RefusalResponse> {
        let asked = page_query(parts)?;
        let before = asked.before.as_deref().map(row_key).transpose()?;
        Ok(Self { before, limit: limit(asked.limit.as_deref())? })
    }
}

impl<S: Sync> FromRequestParts<S> for Since {
    type Rejection = RefusalResponse;

    /// An interrupted stream resumes after `Last-Event-ID`, regardless of `after`.
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, RefusalResponse> {
        let asked = page_query(parts)?;
        let last = parts.headers.get("last-event-id").and_then(|v| v.to_str().ok()).filter(|id| !id.is_empty());
        let text = last.or(asked.after.as_deref()).unwrap_or_default();
        let after = Cursor::parse(text).ok_or_else(|| Refusal::invalid("after must be next of a previous page"))?;
        let limit = limit(asked.limit.as_deref())?;
        Ok(Self { after, limit: usize::try_from(limit).unwrap_or_default() })
    }
}

/// The cursor of the next page, if this one is full.
pub(super) fn next(last: Option<RowKey>) -> Option<String> {
    last.map(|key| format!("{key:016x}"))
}

fn page_query(parts: &Parts) -> Result<PageQuery, Refusal> {
    let Query(asked) = Query::try_from_uri(&parts.uri).map_err(|_| Refusal::invalid("the query could not be read"))?;
    Ok(asked)
}

fn row_key(text: &str) -> Result<RowKey, Refusal> {
    RowKey::from_str_radix(text, 16).map_err(|_| Refusal::invalid("before must be next of a previous page"))
}

/// A limit above the maximum is capped; zero and malformed limits are refused.
fn limit(text: Option<&str>) -> Result<i64, Refusal> {
    match text.map_or(Ok(DEFAULT_LIMIT), str::parse::<i64>) {
        Ok(asked) if asked > 0 => Ok(asked.min(MAX_LIMIT)),
        _ => Err(Refusal::invalid("limit must be a whole number from 1 to 200")),
    }
}
