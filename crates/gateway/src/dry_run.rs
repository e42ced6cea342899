//! Dry runs at an enforcement point: their marker is taken out of the request, and added only in the spelling that the
//! route declares.

use bytes::Bytes;
use countersign_engine::{CallFacts, DryRun, Refusal};
use countersign_protocol::{
    aap::dry_run::{DryRunPreview, HEADER},
    project::DryRunSpelling,
};
use http::{HeaderMap, HeaderName, HeaderValue, Response, Uri, header, request::Parts, uri::PathAndQuery};

const DRY_RUN: HeaderName = HeaderName::from_static(HEADER);

/// Takes the marker out of a request, in either spelling.
pub(crate) fn take(parts: &mut Parts) -> Result<DryRun, Refusal> {
    let values: Vec<&[u8]> = parts.headers.get_all(&DRY_RUN).iter().map(HeaderValue::as_bytes).collect();
    let query = parts.uri.query();
    let (marker, rest) = DryRun::read(query, &values);
    let changed = (rest.as_deref() != query).then(|| rest.map(std::borrow::Cow::into_owned));
    if let Some(rest) = changed {
        parts.uri = with_query(&parts.uri, rest.as_deref())?;
    }
    parts.headers.remove(&DRY_RUN);
    Ok(marker)
}

/// Adds the marker of a dry run that the upstream answers; any other call stays as it is.
pub(crate) fn add(facts: &CallFacts, uri: &mut Uri, headers: &mut HeaderMap) -> Result<(), Refusal> {
    match facts.forwarded_dry_run() {
        Some(DryRunSpelling::Query) => *uri = with_query(uri, facts.forwarded_query().as_deref())?,
        Some(DryRunSpelling::Header) => mark(headers),
        None => {}
    }
    Ok(())
}

/// Whether a request has the marker if and only if it is such a dry run: without it the upstream would carry it out.
pub(crate) fn is_marked_as_decided(facts: &CallFacts, uri: &Uri, headers: &HeaderMap) -> bool {
    let spelling = facts.forwarded_dry_run();
    let in_header = headers.contains_key(&DRY_RUN) == (spelling == Some(DryRunSpelling::Header));
    let in_query = || uri.query() == facts.forwarded_query().as_deref();
    in_header && (spelling != Some(DryRunSpelling::Query) || in_query())
}

pub(crate) fn mark(headers: &mut HeaderMap) {
    headers.insert(DRY_RUN, HeaderValue::from_static("true"));
}

/// 200 with the preview.
pub(crate) fn preview_response(preview: &DryRunPreview) -> Result<Response<Bytes>, Refusal> {
    let body = serde_json::to_vec(preview).map_err(|_| Refusal::Internal)?;
    let mut response = Response::new(Bytes::from(body));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    mark(headers);
    Ok(response)
}

fn with_query(uri: &Uri, query: Option<&str>) -> Result<Uri, Refusal> {
    let target = match query {
        Some(query) => format!("{}?{query}", uri.path()),
        None => uri.path().to_owned(),
    };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(target).map_err(|_| Refusal::Internal)?);
    Uri::from_parts(parts).map_err(|_| Refusal::Internal)
}
