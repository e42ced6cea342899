//! Requests of an operator in its own name: revoke, cancel, audit (AAP 17.3, 17.4, 17.7).

use super::{
    Agent, AskError, WireError,
    wire::{ANSWER_CAP, Repeat, document},
};
use countersign_jose::SigningFailed;
use countersign_outbound::Request;
use countersign_protocol::{
    aap::{
        audit::AuditPage,
        revoke::{CancelRequest, CancelResponse, RevokeRequest, RevokeResponse},
    },
    time::UnixMillis,
};
use http::{HeaderValue, header};
use url::Url;

/// The audit filter: by delegation, by session, or both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditQuery {
    pub delegation_id: Option<String>,
    pub session_id: Option<String>,
    pub from: Option<UnixMillis>,
    pub to: Option<UnixMillis>,
    pub event_type: Option<String>,
    pub limit: Option<u32>,
    pub cursor: Option<String>,
}

impl AuditQuery {
    pub fn of_delegation(id: impl Into<String>) -> Self {
        Self { delegation_id: Some(id.into()), ..Self::default() }
    }

    pub fn of_session(id: impl Into<String>) -> Self {
        Self { session_id: Some(id.into()), ..Self::default() }
    }

    /// The query for the next page; none after the last one.
    pub fn after(&self, page: &AuditPage) -> Option<Self> {
        let cursor = page.next_cursor.clone().filter(|next| Some(next) != self.cursor.as_ref())?;
        Some(Self { cursor: Some(cursor), ..self.clone() })
    }

    fn write(&self, url: &mut Url) {
        let members = [
            ("delegation_id", self.delegation_id.clone()),
            ("session_id", self.session_id.clone()),
            ("from", self.from.map(UnixMillis::to_rfc3339)),
            ("to", self.to.map(UnixMillis::to_rfc3339)),
            ("event_type", self.event_type.clone()),
            ("limit", self.limit.map(|limit| limit.to_string())),
            ("cursor", self.cursor.clone()),
        ];
        for (name, value) in members {
            if let Some(value) = value {
                url.query_pairs_mut().append_pair(name, &value);
            }
        }
    }
}

impl Agent {
    /// Gives up the delegation: `reason` is `user_requested`, `task_complete` or `policy_triggered`.
    pub async fn revoke(&mut self, reason: Option<&str>, now: UnixMillis) -> Result<RevokeResponse, AskError> {
        let url = self.endpoint("revoke").await?;
        let delegation_id = self.delegation.as_ref().map(|delegation| delegation.id().to_owned());
        let body = RevokeRequest {
            delegation_id: Some(delegation_id.ok_or(AskError::NothingToRevoke)?),
            reason: reason.map(str::to_owned),
            operator_jwt: Some(self.operator_jwt(now)?),
            ..RevokeRequest::default()
        };
        let possession = self.possession(self.session_id().unwrap_or_default(), now)?;
        let answer = self.post("revoke", url, &body, possession.as_ref()).await?;
        (self.delegation, self.session) = (None, None);
        Ok(answer)
    }

    /// Reports that the person withdrew their consent: the service ends the session and its receipt (C-41).
    pub async fn cancel(
        &mut self,
        session_id: &str,
        reason: Option<&str>,
        now: UnixMillis,
    ) -> Result<CancelResponse, AskError> {
        let url = self.endpoint("cancel").await?;
        let body = CancelRequest {
            session_id: Some(session_id.to_owned()),
            reason: reason.map(str::to_owned),
            operator_jwt: Some(self.operator_jwt(now)?),
        };
        let possession = self.possession(session_id, now)?;
        let answer = self.post("cancel", url, &body, possession.as_ref()).await?;
        self.session = self.session.take().filter(|session| session.id != session_id);
        Ok(answer)
    }

    /// One page of audit entries; [`AuditQuery::after`] leads to the next.
    pub async fn audit(&mut self, query: &AuditQuery, now: UnixMillis) -> Result<AuditPage, AskError> {
        let mut url = self.endpoint("audit").await?;
        query.write(&mut url);
        let mut request = Request::get(url);
        request.answer_cap = ANSWER_CAP;
        request.headers.insert(header::AUTHORIZATION, bearer(&self.operator_jwt(now)?)?);
        let answer = self.send(request, Repeat::Harmless, None).await?;
        Ok(document("audit", &answer)?)
    }

    /// Checks neither tier nor disclosure: an agent that may not act may still stop and read.
    async fn endpoint(&mut self, name: &'static str) -> Result<Url, AskError> {
        self.known().await?;
        self.known.as_ref().and_then(|known| known.endpoint(name)).ok_or(AskError::NotOffered(name))
    }
}

fn bearer(jwt: &str) -> Result<HeaderValue, WireError> {
    let mut value = HeaderValue::try_from(format!("Bearer {jwt}")).map_err(|_| SigningFailed)?;
    value.set_sensitive(true);
    Ok(value)
}
