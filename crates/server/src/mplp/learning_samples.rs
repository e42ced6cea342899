//! `GET /mplp/v1/learning-samples`: learning samples from decisions, one document a line (MPLP 5).

use super::{caller::Caller, denied::Denied, paging::Since};
use crate::App;
use axum::{
    extract::State,
    response::{IntoResponse as _, Response},
};
use countersign_engine::Refusal;
use countersign_protocol::{aap::error::Envelope, mplp::LearningSample};
use http::{HeaderName, HeaderValue, header};

/// The cursor of the next page; the body has no member for it.
const NEXT: HeaderName = HeaderName::from_static("countersign-next");

#[utoipa::path(
    get,
    path = "/mplp/v1/learning-samples",
    tag = "plans",
    summary = "What the decisions of people teach whoever makes plans",
    description = "For admin keys, and for people who administer the project or audit it. What people and agents wrote is left out unless the project says that those concerned agreed to it.",
    params(("limit" = Option<u32>, Query, minimum = 1, description = "How many entries of the record are read: 50 unless said, at most 200"), ("after" = Option<String>, Query, description = "next of the page before; from the beginning if absent")),
    responses((status = 200, description = "One sample a line. The header Countersign-Next is where to go on; once it is what was sent as after, nothing more was decided", body = LearningSample, content_type = "application/x-ndjson"), (status = "4XX", description = "Refused: the envelope says why and what to do", body = Envelope), (status = "5XX", description = "Trouble on our side", body = Envelope)),
    security(("bearer" = []))
)]
pub(crate) async fn get(State(app): State<App>, caller: Caller, since: Since) -> Result<Response, Denied> {
    let page = app.engine.learning_samples(&caller.at, &caller.reader(), &since.after, since.limit).await?;
    let lines: Result<Vec<String>, _> = page.samples.iter().map(serde_json::to_string).collect();
    let lines = lines.map_err(|_| Refusal::Internal)?;
    let next = HeaderValue::from_str(&page.next.to_string()).map_err(|_| Refusal::Internal)?;
    let kind = HeaderValue::from_static("application/x-ndjson");
    let body: String = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
    Ok(([(header::CONTENT_TYPE, kind), (NEXT, next)], body).into_response())
}
