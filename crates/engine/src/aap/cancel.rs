//! `POST /agent/cancel`

use crate::{
    projects::ProjectAt,
    services::Agents,
    store::{RevokedReceiptByHash, SessionById, StoreError},
};
use countersign_core::{
    aap::cancel::{Cancel, CancelView, KeyWithdrawn},
    decision::cancel::Live,
    people::Actor,
    records::{CancelledFor, Project, Session},
    refusal::Refusal,
    step::Operation as _,
};
use countersign_protocol::{
    aap::revoke::{CancelRequest, CancelResponse},
    ids::RowKey,
};

impl Agents<'_> {
    pub async fn cancel(self, at: &ProjectAt, actor: &Actor, body: &CancelRequest) -> Result<CancelResponse, Refusal> {
        let session_id = body.session_id.as_ref().ok_or_else(|| Refusal::invalid("session_id is required"))?;
        if body.reason.as_ref().is_some_and(|reason| reason.chars().count() > 200) {
            return Err(Refusal::invalid("reason has more than 200 characters"));
        }
        let cancel = || async {
            let session = self.session_of(at, actor, session_id).await?;
            let view = self.cancel_view(&at.project, session).await?;
            let step = Cancel { actor: actor.clone(), reason: body.reason.clone() }.decide(&view, &self.env()?)?;
            let ending = self.subscribe_acknowledgements();
            Ok::<_, Refusal>(step.map(|answer| (answer, view.session, ending)))
        };
        let (answer, session, ending) = self.run(cancel).await?;
        if let Some(session) = &session {
            let holders = [session.key];
            let (ended, ()) = tokio::join!(
                self.end_late_decisions_of_session(&at.project, session.key),
                self.wait_for_inflight_writes(&holders, ending, answer.cancelled_at),
            );
            ended?;
        }
        Ok(answer)
    }

    /// Ends decisions that were raised while the session was being ended.
    pub(super) async fn end_late_decisions_of_session(self, project: &Project, key: RowKey) -> Result<(), Refusal> {
        let late = self.decisions().live_of_session(key).await?;
        self.decisions().end_late_decisions(project, late, CancelledFor::SessionOver).await
    }

    /// Ends a session after its operator key has left the operator's key set.
    pub(crate) async fn end_for_withdrawn_key(self, project: &Project, session: &Session) -> Result<(), Refusal> {
        self.run(|| async {
            let current: Option<Session> = self.get(session.key).await?;
            let view = self.cancel_view(project, current).await?;
            KeyWithdrawn.decide(&view, &self.env()?)
        })
        .await
        .map(drop)
    }

    pub(super) async fn session_of(
        self,
        at: &ProjectAt,
        actor: &Actor,
        session_id: &str,
    ) -> Result<Option<Session>, StoreError> {
        let operator = match actor {
            Actor::Operator(domain) => domain.to_string(),
            Actor::Agent(session) => session.operator.to_string(),
            _ => return Ok(None),
        };
        self.find_one(SessionById { project: at.project.key, operator, session_id: session_id.to_owned() }).await
    }

    pub(super) async fn cancel_view(self, project: &Project, session: Option<Session>) -> Result<CancelView, Refusal> {
        let delegation = self.get_some(session.as_ref().and_then(|session| session.delegation)).await?;
        let receipt_revoked = match session.as_ref().and_then(|session| session.receipt.as_ref()) {
            Some(receipt) => {
                self.find_one(RevokedReceiptByHash { project: project.key, sha256: receipt.said }).await?.is_some()
            }
            None => false,
        };
        let live = match &session {
            Some(session) => self.decisions().live_of_session(session.key).await?,
            None => Live::default(),
        };
        Ok(CancelView { project: project.clone(), session, delegation, receipt_revoked, live })
    }
}
