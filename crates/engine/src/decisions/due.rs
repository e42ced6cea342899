//! Deadlines: read from the rows, so that a restart forgets none. Any node settles them; the row's version lets
//! only one succeed.

use crate::{
    services::Decisions,
    session_locks::SessionLockGuard,
    store::{
        AaepSessionsDue, AllowancesDue, DecisionsDue, DecisionsOpenOfEffect, DelegationsDue, ExecutionsDue,
        HeartbeatsDue, Outcome,
    },
};
use countersign_core::{
    aaep::idle::SessionDue,
    decision::{
        ProjectRef,
        cancel::Supersede,
        due::{AllowanceDue, AllowanceDueView, DueView, ExecutionView, LeaseDue, QuestionDue},
    },
    records::{AaepSession, Allowance, Decision, Execution, Project},
    refusal::Refusal,
    step::{Operation as _, Step},
};
use countersign_protocol::{hash::Digest, ids::RowKey};

/// The number of rows per query.
const BATCH: i64 = 256;

/// Held until the step is committed.
type SessionLock<'engine> = Option<SessionLockGuard<'engine>>;

impl<'engine> Decisions<'engine> {
    /// Settles everything that is due, and returns the number. To be called often.
    pub async fn settle_due(self) -> Result<usize, Refusal> {
        // First: a lease with a known outcome must not be taken for lapsed.
        let mut done = self.calls().record_outcomes().await;
        // After a leap of the clock nothing is due by it.
        self.check_clock()?;
        loop {
            let found = self.settle_batch().await?;
            done += found;
            if found < usize::try_from(BATCH).unwrap_or(usize::MAX) {
                return Ok(done);
            }
        }
    }

    async fn settle_batch(self) -> Result<usize, Refusal> {
        let (by, limit) = (self.now(), BATCH);
        let questions = self.find_all(DecisionsDue { by, limit }).await?;
        let allowances = self.find_all(AllowancesDue { by, limit }).await?;
        let executions = self.find_all(ExecutionsDue { by, limit }).await?;
        let sessions = self.find_all(AaepSessionsDue { by, limit }).await?;
        let delegations = self.find_all(DelegationsDue { by, limit }).await?;
        let heartbeats = self.find_all(HeartbeatsDue { by, limit }).await?;
        let found = questions.len() + allowances.len() + executions.len() + sessions.len() + delegations.len();
        let found = found + heartbeats.len();
        let questions = questions.iter().map(|question| self.settle_question(question.key, false));
        join_results(questions).await?;
        join_results(allowances.iter().map(|allowance| self.settle_allowance(allowance.key))).await?;
        join_results(executions.iter().map(|execution| self.settle_lease(execution.key))).await?;
        join_results(sessions.iter().map(|session| self.settle_session(session.key))).await?;
        // Last, so that records with a deadline of their own have settled by it.
        let agents = self.agents();
        join_results(heartbeats.iter().map(|heartbeat| agents.settle_heartbeat(heartbeat.key))).await?;
        join_results(delegations.iter().map(|delegation| agents.settle_delegation(delegation.key))).await?;
        Ok(found)
    }

    /// One question: its countdown, its deadline, or at once if nobody can answer and the project wants that.
    pub(crate) async fn settle_question(self, key: RowKey, nobody_there: bool) -> Result<(), Refusal> {
        let Some((_lock, view)) = self.lock_decision(key).await? else { return Ok(()) };
        let operation = QuestionDue { serving_since: self.time.serving_since(), nobody_there };
        self.commit_settlement(operation.decide(&view, &self.env()?)?).await
    }

    /// Supersedes other questions about an effect that has happened: they need no answer any more.
    pub(crate) async fn supersede_questions(self, done: &Decision, effect: Digest) -> Result<(), Refusal> {
        let open = self.find_all(DecisionsOpenOfEffect { project: done.project, effect }).await?;
        for question in open.into_iter().filter(|question| question.key != done.key) {
            let Some((_lock, view)) = self.lock_decision(question.key).await? else { continue };
            self.commit_settlement(Supersede { by: done.id.clone() }.decide(&view, &self.env()?)?).await?;
        }
        Ok(())
    }

    async fn settle_allowance(self, key: RowKey) -> Result<(), Refusal> {
        let Some((_lock, view)) = self.lock_allowance(key).await? else { return Ok(()) };
        self.commit_settlement(AllowanceDue.decide(&view, &self.env()?)?).await
    }

    async fn settle_lease(self, key: RowKey) -> Result<(), Refusal> {
        let Some((_lock, view)) = self.lock_execution(key).await? else { return Ok(()) };
        self.commit_settlement(LeaseDue.decide(&view, &self.env()?)?).await
    }

    /// A session with a silent agent.
    async fn settle_session(self, key: RowKey) -> Result<(), Refusal> {
        let _lock = self.session_locks.lock(key).await;
        let Some(session) = self.get::<AaepSession>(key).await? else { return Ok(()) };
        let project: Project = self.load(session.project).await?;
        self.commit_settlement(SessionDue.decide(&((project.key, project.id), session), &self.env()?)?).await
    }

    /// A decision with the rows that its end concerns, under the lock of its session; none if it was removed.
    pub(crate) async fn lock_decision(self, key: RowKey) -> Result<Option<(SessionLock<'engine>, DueView)>, Refusal> {
        let Some(found) = self.get::<Decision>(key).await? else { return Ok(None) };
        let lock = self.engine.session_locks.lock(found.asked_in).await;
        let Some(decision) = self.get::<Decision>(key).await? else { return Ok(None) };
        let (place, session) = self.project_and_session(&decision).await?;
        let plan = self.plan_of(decision.plan()).await?;
        Ok(Some((lock, DueView { place, decision, session, plan })))
    }

    /// The same for an allowance.
    pub(crate) async fn lock_allowance(
        self,
        key: RowKey,
    ) -> Result<Option<(SessionLock<'engine>, AllowanceDueView)>, Refusal> {
        let Some(found) = self.get::<Allowance>(key).await? else { return Ok(None) };
        let decision: Decision = self.load(found.decision).await?;
        let lock = self.engine.session_locks.lock(decision.asked_in).await;
        let Some(allowance) = self.get::<Allowance>(key).await? else { return Ok(None) };
        let (place, session) = self.project_and_session(&decision).await?;
        let plan = self.plan_of(allowance.step.as_ref().map(|step| step.plan)).await?;
        Ok(Some((lock, AllowanceDueView { place, decision, session, allowance, plan })))
    }

    /// The same for an execution.
    pub(crate) async fn lock_execution(
        self,
        key: RowKey,
    ) -> Result<Option<(SessionLock<'engine>, ExecutionView)>, Refusal> {
        let Some(found) = self.get::<Execution>(key).await? else { return Ok(None) };
        let decision: Decision = self.load(found.decision).await?;
        let lock = self.engine.session_locks.lock(decision.asked_in).await;
        let Some(execution) = self.get::<Execution>(key).await? else { return Ok(None) };
        let (place, session) = self.project_and_session(&decision).await?;
        Ok(Some((lock, self.execution_view(place, decision, session, execution).await?)))
    }

    /// An execution with the rows that its end concerns.
    pub(crate) async fn execution_view(
        self,
        place: ProjectRef,
        decision: Decision,
        session: AaepSession,
        execution: Execution,
    ) -> Result<ExecutionView, Refusal> {
        let allowance = self.get(execution.allowance).await?;
        let plan = self.plan_of(execution.step.as_ref().map(|step| step.plan)).await?;
        Ok(ExecutionView { place, decision, session, execution, allowance, plan })
    }

    /// Another node may have been first; a row that is not due by the store's clock comes again.
    async fn commit_settlement(self, step: Step<()>) -> Result<(), Refusal> {
        match self.commit(step.effects).await {
            Outcome::Unavailable(_) => Err(Refusal::Unavailable),
            _ => Ok(()),
        }
    }

    pub(crate) async fn project_and_session(self, decision: &Decision) -> Result<(ProjectRef, AaepSession), Refusal> {
        let project: Project = self.load(decision.project).await?;
        Ok(((project.key, project.id), self.session_of_decision(decision).await?))
    }
}

/// Concurrently, so that they share commits; the first error is returned once all have run.
async fn join_results(work: impl Iterator<Item = impl Future<Output = Result<(), Refusal>>>) -> Result<(), Refusal> {
    futures_util::future::join_all(work).await.into_iter().collect()
}
