//! Rolling back a cancelled session (AAP 17.7). Everything is decided from rows, so that any node continues after a crash.

use crate::{
    calls::UpstreamError,
    ports::UpstreamRequests,
    runner::TRIES,
    services::Agents,
    store::{
        AuditBy, AuditQuery, ExecutionsOfSession, Outcome, ReversibleWritesOf, RollbackOf, RollbacksDue,
        UnsettledWritesIn,
    },
};
use countersign_core::{
    aap::{
        access::WriteResult,
        rollback::{
            CallOutcome, CancelAttempt, CancelResult, RollbackAnswered, RollbackCollect, RollbackDue, RollbackView,
            SessionSteps, answer,
        },
    },
    records::{CancelCall, Mode, Project, Rollback, RollbackPhase, Session},
    refusal::Refusal,
    step::{Operation as _, Step},
};
use countersign_protocol::{
    aap::{audit::AuditEntry, revoke::CancelResponse},
    ids::RowKey,
    time::UnixMillis,
};
use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};

/// How long a canceller waits for the end of the rollback; any node continues it afterwards.
const ANSWER_WITHIN: Duration = Duration::from_secs(15);
const LOOK_AGAIN: Duration = Duration::from_millis(50);
const LOOKS: u32 = 300;
/// Rollbacks that one node continues at a time.
const BATCH: i64 = 32;
/// The calls of a session are read in pages, at most so many.
const PAGE: usize = 500;
const MAX_PAGES: usize = 10;

impl Agents<'_> {
    /// Rolls back a session that ended at `closed_at`, and reports as far as it has come in time. A caller that hangs up
    /// does not stop it.
    pub(super) async fn roll_back(self, session: RowKey, closed_at: UnixMillis) -> Result<CancelResponse, Refusal> {
        let row = self.find_one(RollbackOf(session)).await?.ok_or(Refusal::Internal)?;
        let (engine, key) = (Arc::clone(self.engine), row.key);
        let rolling = self.tasks.spawn(async move { engine.agents().finish_rollback(key).await });
        match tokio::time::timeout(ANSWER_WITHIN, rolling).await {
            Ok(finished) => finished.map_err(|_| Refusal::Internal)??,
            Err(_elapsed) => {}
        }
        Ok(answer(closed_at, Some(&self.load(key).await?)))
    }

    /// Continues a rollback to its end, or until nothing has happened for a while.
    async fn finish_rollback(self, key: RowKey) -> Result<(), Refusal> {
        for _ in 0..LOOKS {
            while self.continue_rollback(key).await? {}
            let row: Rollback = self.load(key).await?;
            if row.due().is_none() {
                break;
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        Ok(())
    }

    /// Continues every due rollback, and returns their number. Call it often, apart from work that must not wait for an
    /// upstream.
    pub async fn roll_back_due(self) -> Result<usize, Refusal> {
        self.check_clock()?;
        let due = self.find_all(RollbacksDue { by: self.now(), limit: BATCH }).await?;
        let continued = due.iter().map(|row| async move {
            while self.continue_rollback(row.key).await? {}
            Ok(())
        });
        futures_util::future::join_all(continued).await.into_iter().collect::<Result<(), Refusal>>()?;
        Ok(due.len())
    }

    /// One step of a rollback. False if there is nothing to do here now: it is finished, not due, or another node's.
    async fn continue_rollback(self, key: RowKey) -> Result<bool, Refusal> {
        let Some(view) = self.rollback_view(key).await? else { return Ok(false) };
        if view.rollback.due().is_none_or(|due| self.now() < due) {
            return Ok(false);
        }
        if matches!(view.rollback.phase, RollbackPhase::Collecting { .. }) {
            let found = self.session_steps(&view).await?;
            return Ok(self.commit_rollback(RollbackCollect { found }.decide(&view, &self.env()?)?).await?.is_some());
        }
        let port = self.upstreams.read().unwrap_or_else(PoisonError::into_inner).clone();
        let step = RollbackDue { can_send: port.is_some() }.decide(&view, &self.env()?)?;
        let changes = !step.effects.is_empty();
        match (self.commit_rollback(step).await?, port) {
            (Some(Some(attempt)), Some(port)) => self.undo_one(&view, attempt, &*port).await.map(|()| true),
            (committed, _) => Ok(committed.is_some() && changes),
        }
    }

    /// The answer of a committed step; none if another node was first, or it is not due by the store's clock.
    async fn commit_rollback<A>(self, step: Step<A>) -> Result<Option<A>, Refusal> {
        match self.commit(step.effects).await {
            Outcome::Committed => Ok(Some(step.answer)),
            Outcome::Unavailable(_) => Err(Refusal::Unavailable),
            _ => Ok(None),
        }
    }

    /// Sends one durable request, and records its result. Without a record it counts as lost, and is never repeated.
    async fn undo_one(
        self,
        view: &RollbackView,
        attempt: CancelAttempt,
        port: &dyn UpstreamRequests,
    ) -> Result<(), Refusal> {
        let result = self.send_cancel(&view.project, &attempt.cancel, port).await;
        tracing::info!(?result, "an upstream was asked to undo a call");
        for _ in 0..TRIES {
            let Some(view) = self.rollback_view(view.rollback.key).await? else { return Ok(()) };
            let answered = RollbackAnswered { attempt: attempt.clone(), result: result.clone() };
            match self.commit(answered.decide(&view, &self.record_env()?)?.effects).await {
                Outcome::Stale => {}
                Outcome::Committed => return Ok(()),
                _ => return Err(Refusal::Unavailable),
            }
        }
        Err(Refusal::Unavailable)
    }

    /// Asks the upstream of a call to undo it.
    pub(crate) async fn send_cancel(
        self,
        project: &Project,
        call: &CancelCall,
        port: &dyn UpstreamRequests,
    ) -> CancelResult {
        let Some((cancel, upstream)) = call.unchanged_in(&project.document) else {
            return CancelResult::NotSent { why: "its route's cancel endpoint has changed since" };
        };
        let Ok(path) = self.calls().open_cancel(project, call).await else {
            return CancelResult::NotSent { why: "the path of its cancel endpoint could not be opened" };
        };
        match port.cancel(&project.id, upstream, &cancel.method, &path).await {
            Ok(response) => CancelResult::of(cancel, response.as_ref()),
            Err(UpstreamError::NotSent(why)) => CancelResult::NotSent { why },
            Err(UpstreamError::TimedOut(_) | UpstreamError::ConnectionLost(_)) => CancelResult::Unknown,
        }
    }

    async fn rollback_view(self, key: RowKey) -> Result<Option<RollbackView>, Refusal> {
        let Some(rollback) = self.get::<Rollback>(key).await? else { return Ok(None) };
        let project: Project = self.load(rollback.project).await?;
        let session: Session = self.load(rollback.session).await?;
        let delegation = session.delegation.or_else(|| session.delegation_in(Mode::ServiceAccount));
        let delegation = self.get_some(delegation).await?;
        Ok(Some(RollbackView { project, rollback, session, delegation }))
    }

    async fn session_steps(self, view: &RollbackView) -> Result<SessionSteps, Refusal> {
        let (session, since) = (view.session.key, view.rollback.since);
        let mut executions = Vec::new();
        let mut found = self.find_all(ExecutionsOfSession(session)).await?;
        found.retain(|execution| execution.claimed_at >= since);
        for execution in found {
            let decision = self.load(execution.decision).await?;
            executions.push((execution, decision));
        }
        let mut unsettled = self.find_all(UnsettledWritesIn(view.project.key)).await?;
        unsettled.retain(|write| write.session == Some(session) && write.started_at >= since);
        let mut reversible = self.find_all(ReversibleWritesOf(session)).await?;
        reversible.retain(|write| write.started_at >= since);
        let (calls, more) = self.write_outcomes(view).await?;
        Ok(SessionSteps { executions, calls, unsettled, reversible, more })
    }

    /// The writes of a session without approval, from its audit entries, and whether there are more.
    async fn write_outcomes(self, view: &RollbackView) -> Result<(Vec<CallOutcome>, bool), Refusal> {
        let mut query = AuditQuery {
            project: view.project.key,
            by: AuditBy::Session(vec![view.session.key]),
            from: Some(view.rollback.since),
            to: None,
            event_type: Some("call".into()),
            after: None,
            limit: PAGE,
        };
        let mut calls = Vec::new();
        for _ in 0..MAX_PAGES {
            let page = self.store.audit(query.clone()).await?;
            for row in &page.rows {
                let entry = self.evidence_health.entry(row);
                if entry.evidence_fault.is_some() {
                    return Err(Refusal::Internal);
                }
                calls.extend(write_outcome(entry));
            }
            query.after = page.rows.last().map(|row| row.place);
            if !page.more {
                return Ok((calls, false));
            }
        }
        Ok((calls, true))
    }
}

/// None for reads, refused calls and approved ones: those have executions.
fn write_outcome(entry: AuditEntry) -> Option<CallOutcome> {
    let result = WriteResult::parse(entry.effect.as_deref()?)?;
    let (at, call_id, action) = (entry.timestamp, entry.call_id, entry.action);
    entry.decision_id.is_none().then(|| CallOutcome { at, call_id, action, took_effect: result.took_effect() })
}
