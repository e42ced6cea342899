//! `GET /agent/audit` (AAP 7.1, 17.4)

use crate::{
    App,
    http::{
        address::SourceNetwork,
        answer::{ErrorResponses, JsonResult},
        at::AtProject,
        caller::Asker,
    },
};
use axum::extract::{Query, State, rejection::QueryRejection};
use countersign_engine::{AuditAsked, Refusal};
use countersign_protocol::{aap::audit::AuditPage, time::UnixMillis};

const DEFAULT_LIMIT: usize = 50;
const MAX_LIMIT: usize = 200;

#[derive(Debug, Default, serde::Deserialize)]
pub(crate) struct AuditParams {
    delegation_id: Option<String>,
    session_id: Option<String>,
    account_id: Option<String>,
    from: Option<String>,
    to: Option<String>,
    event_type: Option<String>,
    limit: Option<String>,
    cursor: Option<String>,
}

#[utoipa::path(
    get, path = "/agent/audit", tag = "people", security(("session" = []), ("bearer" = [])),
    summary = "The audit entries of a delegation, an AAP session or a service account",
    params(("delegation_id" = Option<String>, Query, description = "This, session_id or account_id is required"),
        ("session_id" = Option<String>, Query),
        ("account_id" = Option<String>, Query, description = "All grants of a service account"),
        ("from" = Option<String>, Query, format = DateTime, description = "Inclusive"),
        ("to" = Option<String>, Query, format = DateTime, description = "Exclusive"),
        ("event_type" = Option<String>, Query),
        ("limit" = Option<u32>, Query, minimum = 1, description = "Default 50, at most 200"),
        ("cursor" = Option<String>, Query, description = "next_cursor of the previous page"),
        ("Aap-Version" = Option<String>, Header, description = "The protocol version; required with an agent's or operator's credentials")),
    responses((status = 200, description = "A page of entries, oldest first", body = AuditPage), ErrorResponses),
)]
pub(crate) async fn get(
    State(app): State<App>,
    AtProject(at): AtProject,
    SourceNetwork(source): SourceNetwork,
    asker: Asker,
    asked: Result<Query<AuditParams>, QueryRejection>,
) -> JsonResult<AuditPage> {
    let actor = asker.reader(&app, &at, &source).await?;
    let Query(asked) = asked.map_err(|_| Refusal::invalid("the query could not be read"))?;
    Ok(axum::Json(app.engine.evidence().audit(&at, &actor, &asked.resolve()?).await?))
}

impl AuditParams {
    fn resolve(self) -> Result<AuditAsked, Refusal> {
        Ok(AuditAsked {
            delegation_id: self.delegation_id,
            session_id: self.session_id,
            account_id: self.account_id,
            from: self.from.as_deref().map(|text| time("from", text)).transpose()?,
            to: self.to.as_deref().map(|text| time("to", text)).transpose()?,
            event_type: self.event_type,
            limit: self.limit.as_deref().map_or(Ok(DEFAULT_LIMIT), limit)?,
            cursor: self.cursor,
        })
    }
}

fn time(name: &str, text: &str) -> Result<UnixMillis, Refusal> {
    let why = || Refusal::invalid(format!("{name} must be an ISO 8601 date-time such as 2026-06-01T00:00:00Z"));
    UnixMillis::parse_rfc3339(text).ok_or_else(why)
}

/// A limit above the maximum is capped; zero and malformed limits are refused.
fn limit(text: &str) -> Result<usize, Refusal> {
    match text.parse::<usize>() {
        Ok(asked) if asked > 0 => Ok(asked.min(MAX_LIMIT)),
        _ => Err(Refusal::invalid("limit must be a whole number from 1 to 200")),
    }
}
