//! `?session_id=`: the clarification session of the request. Nothing is normalised (W-29).

use crate::{App, http::answer::RefusalResponse};
use axum::extract::{FromRequestParts, Query};
use countersign_engine::Refusal;
use countersign_protocol::mplp::MplpId;
use http::request::Parts;

pub(crate) struct SessionId(pub(super) MplpId);

#[derive(serde::Deserialize)]
struct SessionQuery {
    session_id: Option<String>,
}

impl FromRequestParts<App> for SessionId {
    type Rejection = RefusalResponse;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, RefusalResponse> {
        let asked = Query::<SessionQuery>::from_request_parts(parts, app).await;
        let Query(asked) = asked.map_err(|_| Refusal::invalid("the query could not be read"))?;
        let text = asked.session_id.ok_or_else(|| Refusal::invalid("session_id: is required"))?;
        Ok(Self(MplpId::parse(&text).map_err(|why| Refusal::invalid(format!("session_id: {why}")))?))
    }
}
