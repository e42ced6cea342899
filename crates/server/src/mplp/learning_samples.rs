//! `GET /mplp/v1/learning-samples`: learning samples from decisions, one document a line (MPLP 5).

use super::{caller::MplpCaller, denied::Denied, paging::Since};
use crate::App;
use axum::{
    extract::State,
    response::{IntoResponse as _, Response},
};
use countersign_engine::Refusal;
use countersign_protocol::{aap::error::ErrorEnvelope, mplp::LearningSample};
use http::{HeaderName, HeaderValue, header};

/// The cursor of the next page; the body has no member for it.
const NEXT: HeaderName = HeaderName::from_static("countersign-next");

#[utoipa::path(
    get,
    path = "/mplp/v1/learning-samples",
    tag = "plans",
    summary = "Learning samples from the decisions of people",
    description = "For admin keys, and for people who administer the project or audit it. Texts by people and agents are left out unless the project states that the people concerned agreed.",
    params(("limit" = Option<u32>, Query, minimum = 1, description = "How many entries of the record are read: default 50, at most 200"), ("after" = Option<String>, Query, description = "next of the previous page; from the beginning if absent")),
    responses((status = 200, description = "One sample per line. The header Countersign-Next is the next cursor; it equals after once there are no further decisions", body = LearningSample, content_type = "application/x-ndjson"), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("bearer" = []))
)]
pub(crate) async fn get(State(app): State<App>, caller: MplpCaller, since: Since) -> Result<Response, Denied> {
    let page = app.engine.plans().learning_samples(&caller.at, &caller.reader(), &since.after, since.limit).await?;
    let lines: Result<Vec<String>, _> = page.samples.iter().map(serde_json::to_string).collect();
    let lines = lines.map_err(|_| Refusal::Internal)?;
    let next = HeaderValue::from_str(&page.next.to_string()).map_err(|_| Refusal::Internal)?;
    let kind = HeaderValue::from_static("application/x-ndjson");
    let body: String = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
    Ok(([(header::CONTENT_TYPE, kind), (NEXT, next)], body).into_response())
}
