//! `POST /agent/cancel`

use crate::{
    projects::ProjectAt,
    services::Agents,
    store::{RevokedReceiptByHash, RollbackOf, SessionById, SessionsBySessionId, StoreError},
};
use countersign_core::{
    aap::cancel::{Cancel, CancelView, KeyWithdrawn},
    decision::cancel::Live,
    people::{Actor, ProjectMember},
    records::{CancelledFor, Decision, Delegation, Mode, Project, Session},
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
        let find = || self.session_of(at, actor, session_id);
        self.cancel_session(&at.project, actor, body.reason.as_deref(), find).await
    }

    /// A person ends one task of their own delegation.
    pub async fn end_task(
        self,
        project: &Project,
        member: &ProjectMember,
        delegation: &Delegation,
        session_id: &str,
    ) -> Result<CancelResponse, Refusal> {
        let lookup = SessionsBySessionId { project: project.key, session_id: session_id.to_owned() };
        let find = || async {
            let found = self.find_all(lookup.clone()).await?;
            Ok(found.into_iter().find(|session| session.delegation == Some(delegation.key)))
        };
        self.cancel_session(project, &Actor::Person(Box::new(member.clone())), None, find).await
    }

    async fn cancel_session<F>(
        self,
        project: &Project,
        actor: &Actor,
        reason: Option<&str>,
        find: impl Fn() -> F,
    ) -> Result<CancelResponse, Refusal>
    where
        F: Future<Output = Result<Option<Session>, StoreError>>,
    {
        let cancel = || async {
            let session = find().await?;
            let view = self.cancel_view(project, Some(actor), session).await?;
            let step =
                Cancel { actor: actor.clone(), reason: reason.map(str::to_owned) }.decide(&view, &self.env()?)?;
            let ending = self.subscribe_acknowledgements();
            Ok::<_, Refusal>(step.map(|answer| (answer, view.session, ending)))
        };
        let (answer, session, ending) = self.run(cancel).await?;
        let Some(session) = &session else { return Ok(answer) };
        let holders = [session.key];
        let (ended, ()) = tokio::join!(
            self.end_late_decisions_of_session(project, session.key),
            self.wait_for_inflight_writes(&holders, ending, answer.cancelled_at),
        );
        ended?;
        match &answer.rollback {
            Some(rollback) if !rollback.finished => self.roll_back(session.key, answer.cancelled_at).await,
            _ => Ok(answer),
        }
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
            let view = self.cancel_view(project, None, current).await?;
            KeyWithdrawn { kid: session.operator_kid.clone() }.decide(&view, &self.env()?)
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

    pub(super) async fn cancel_view(
        self,
        project: &Project,
        actor: Option<&Actor>,
        session: Option<Session>,
    ) -> Result<CancelView, Refusal> {
        let delegation = self.get_some(session.as_ref().and_then(|session| match actor {
            Some(Actor::Agent(own)) => own.delegation,
            // A session of a service account alone has the grant.
            _ => session.delegation.or_else(|| session.delegation_in(Mode::ServiceAccount)),
        }));
        let delegation = delegation.await?;
        let mut receipts = Vec::new();
        for sha256 in session.iter().flat_map(Session::receipts_ever) {
            if self.find_one(RevokedReceiptByHash { project: project.key, sha256 }).await?.is_none() {
                receipts.push(sha256);
            }
        }
        let live = match &session {
            Some(session) => self.decisions().live_of_session(session.key).await?,
            None => Live::default(),
        };
        let heartbeat = self.heartbeat_of(session.as_ref()).await?;
        let mut approved = Vec::new();
        for allowance in &live.allowances {
            approved.extend(self.get::<Decision>(allowance.decision).await?);
        }
        let rollback = match &session {
            Some(session) => self.find_one(RollbackOf(session.key)).await?,
            None => None,
        };
        let project = project.clone();
        let reversible = Vec::new();
        Ok(CancelView {
            project,
            session,
            delegation,
            receipts,
            heartbeat,
            live,
            ending: Vec::new(),
            approved,
            rollback,
            reversible,
        })
    }
}
