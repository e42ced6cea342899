//! The outcome of a call: durable before its response leaves, and unknown where it is not known.

use super::{Egress, HeldFacts, UpstreamOutcome, permit::OpenPermit, unrecorded::UnrecordedOutcome};
use crate::{
    runner::TRIES,
    services::Calls,
    session_locks::SessionLockGuard,
    store::{self, Outcome},
};
use countersign_core::{
    aap::access::{AuthorizedCall, CallFacts, CallVerdict, SeenWrite, WriteResult},
    decision::{
        due::ExecutionView,
        outcome::{OutcomeReport, may_report},
    },
    env::Env,
    records::{Decision, Delegation, Point, UndoableCall},
    refusal::Refusal,
    step::{Effects, Operation as _, Step},
};
use countersign_protocol::{
    canonical::NotCanonical,
    ids::{ProjectId, RowKey},
    time::UnixMillis,
};
use std::sync::atomic::{AtomicBool, Ordering};

/// What a response needs once its outcome is recorded.
#[derive(Default)]
pub(super) struct RecordedOutcome {
    /// The meter for a response of unknown length.
    pub(super) egress: Option<Egress>,
    /// The call whose undo window is open now.
    pub(super) undoable: Option<UndoableCall>,
}

impl<'engine> Calls<'engine> {
    /// Records the outcome of a call; only then may its response leave.
    pub(super) async fn settle(
        self,
        open: Box<OpenPermit>,
        outcome: UpstreamOutcome,
    ) -> Result<RecordedOutcome, Refusal> {
        match open.authorized.facts().writes() {
            true => Box::pin(self.settle_write(&open, outcome)).await,
            false => self.settle_read(open, outcome).await.map(|egress| RecordedOutcome { egress, undoable: None }),
        }
    }

    /// From the first byte sent, no error may say that nothing happened: an outcome that cannot be recorded now is kept and
    /// recorded later.
    async fn settle_write(self, open: &OpenPermit, outcome: UpstreamOutcome) -> Result<RecordedOutcome, Refusal> {
        let facts = open.authorized.facts();
        if let Ok(undoable) = self.record_outcome(open, outcome).await {
            Box::pin(self.supersede_other_questions(open, outcome)).await;
            return Ok(RecordedOutcome { egress: Egress::of(facts).filter(|_| outcome.is_unsized()), undoable });
        }
        let held = open.held.as_ref().map(|held| (held, outcome.report(facts.route())));
        let write = open.authorized.write().map(|row| (row.key, observed_write(open, outcome)));
        let entry = self.record_env().ok().and_then(|env| write_entry(open, outcome, &env).ok());
        self.keep_unrecorded(entry.and_then(|effects| UnrecordedOutcome::new(facts, &effects, held, write)));
        Err(if outcome.was_sent() { Refusal::OutcomeUnrecorded(open.sent_write()) } else { Refusal::Unavailable })
    }

    /// A committed effect needs no further approval. A failure here does not hold the response back.
    async fn supersede_other_questions(self, open: &OpenPermit, outcome: UpstreamOutcome) {
        let Some(held) = open.held.as_ref() else { return };
        let (Some(effect), OutcomeReport::Committed) = (held.effect, outcome.report(open.authorized.facts().route()))
        else {
            return;
        };
        let superseded = async {
            let done: Option<Decision> = self.get(held.decision).await?;
            self.decisions().supersede_questions(&done.ok_or(Refusal::Internal)?, effect).await
        };
        if let Err(refusal) = superseded.await {
            tracing::warn!(%refusal, "other questions about a completed effect stay pending");
        }
    }

    /// Yields the call whose undo window opens with its outcome.
    async fn record_outcome(
        self,
        open: &OpenPermit,
        outcome: UpstreamOutcome,
    ) -> Result<Option<UndoableCall>, Refusal> {
        let facts = open.authorized.facts();
        let project = (facts.project().key, facts.project().id.clone());
        let again = AtomicBool::new(false);
        let record = || async {
            let row = match open.authorized.write() {
                // A person settled it, or it expired.
                Some(write) if again.swap(true, Ordering::Relaxed) => self.get(write.key).await?,
                write => write.cloned(),
            };
            let env = self.record_env()?;
            let effects = write_entry(open, outcome, &env)?;
            let effects =
                effects.and(self.apply_write_outcome(row.as_ref(), &observed_write(open, outcome), &project, &env)?);
            let result = observed_write(open, outcome).result;
            let (reversed, undoable) = self.settle_reversible(open, result, env.now).await?;
            let effects = effects.and(reversed);
            let (lock, reported) = match &open.held {
                Some(held) => {
                    let key = (held.decision, held.execution_id.as_str());
                    Box::pin(self.report_execution(key, &project, outcome.report(facts.route()), &env)).await?
                }
                None => (None, Effects::default()),
            };
            let effects = effects.and(reported);
            Ok::<_, Refusal>((lock, Step { answer: (effects.counts.clone(), undoable), effects }))
        };
        match self.run_to_outcome(record).await? {
            (Outcome::Committed, (counts, undoable)) => {
                self.limit_cache.forget(&counts);
                Ok(undoable)
            }
            _ => Err(Refusal::Unavailable),
        }
    }

    /// The execution's end is committed in the same step as the call's entry.
    pub(super) async fn report_execution(
        self,
        execution: (RowKey, &str),
        project: &(RowKey, ProjectId),
        report: OutcomeReport,
        env: &Env,
    ) -> Result<(Option<SessionLockGuard<'engine>>, Effects), Refusal> {
        let (lock, view) = self.execution_view(execution, project).await?;
        match report.decide(&view, env) {
            Ok(step) => {
                if step.answer.conflict.is_some() {
                    let decision = view.decision.id.as_str();
                    tracing::error!(decision, alarm = "outcome_conflict", "an outcome contradicts a person's finding");
                }
                Ok((lock, step.effects))
            }
            // A person found out before us; the call's own entry says what we saw.
            Err(Refusal::Conflict(why)) => {
                tracing::warn!(why, "the outcome of a call was settled already");
                Ok((lock, Effects::default()))
            }
            Err(refusal) => Err(refusal),
        }
    }

    async fn execution_view(
        self,
        (decision, execution_id): (RowKey, &str),
        project: &(RowKey, ProjectId),
    ) -> Result<(Option<SessionLockGuard<'engine>>, ExecutionView), Refusal> {
        let decision: Decision = self.load(decision).await?;
        let lock = self.engine.session_locks.lock(decision.asked_in).await;
        let lookup = store::ExecutionById { project: decision.project, id: execution_id.to_owned() };
        let execution = self.find_one(lookup).await?.ok_or(Refusal::Internal)?;
        may_report(execution.point, Point::Gateway)?;
        let session = self.decisions().session_of_decision(&decision).await?;
        Ok((lock, self.decisions().execution_view(project.clone(), decision, session, execution).await?))
    }

    /// Renews the lease of a claim and returns its new end. A failure does not stop the call: other nodes find the claim
    /// unknown, and a late outcome still counts.
    pub(super) async fn renew_lease(self, held: &HeldFacts, facts: &CallFacts) -> Option<UnixMillis> {
        let renewed = async {
            let project = (facts.project().key, facts.project().id.clone());
            let (_lock, view) = self.execution_view((held.decision, &held.execution_id), &project).await?;
            let step = OutcomeReport::Running.decide(&view, &self.record_env()?)?;
            let until = step.answer.lease_until();
            Ok::<_, Refusal>((self.commit(step.effects).await, until))
        };
        match renewed.await {
            Ok((Outcome::Committed, until)) => until,
            _ => {
                tracing::warn!(decision = held.decision_id, "the lease of a claim could not be renewed");
                None
            }
        }
    }

    /// Records a read and decides it again: if its access was revoked meanwhile, the response must be dropped.
    async fn settle_read(self, open: Box<OpenPermit>, outcome: UpstreamOutcome) -> Result<Option<Egress>, Refusal> {
        let OpenPermit { mut authorized, call, address, data_subjects, .. } = *open;
        let (text, bytes) = (outcome.text(), outcome.bytes());
        // Not the step runner: between two commits the call is decided again.
        for _ in 0..TRIES {
            let (effects, counted) = authorized.record_read(&text, bytes, &data_subjects, &self.env()?)?;
            match self.commit(effects).await {
                Outcome::Committed => {
                    self.limit_cache.add(&counted);
                    return Ok(Egress::of(authorized.facts()).filter(|_| outcome.is_unsized()));
                }
                Outcome::Stale if self.outlasts_budget(&mut authorized).await? => continue,
                Outcome::Stale => self.agents().forget_credential(&address, &call),
                failed => {
                    let refusal = self.limit_refusal(authorized.facts(), &counted, &failed).await;
                    return Err(Box::pin(self.record_dropped_read(&authorized, refusal)).await);
                }
            }
            let begun = authorized.is_started();
            authorized = match Box::pin(self.decide_call(&address, &call, begun)).await? {
                CallVerdict::Authorized(again) if begun => again.started(None),
                CallVerdict::Authorized(again) => again,
                CallVerdict::NeedsApproval(_) | CallVerdict::DryRun(_) => return Err(Refusal::Unavailable),
            };
        }
        Err(Refusal::Unavailable)
    }

    /// Whether only a call beyond the usage budget has ended the delegation of a read within it.
    async fn outlasts_budget(self, read: &mut AuthorizedCall) -> Result<bool, Refusal> {
        let delegation = read.facts().delegation().filter(|_| read.is_started());
        let delegation: Option<Delegation> = self.get_some(delegation).await?;
        Ok(delegation.is_some_and(|delegation| read.outlasts_budget(&delegation)))
    }

    /// The entry of a read with a dropped response.
    async fn record_dropped_read(self, authorized: &AuthorizedCall, refusal: Refusal) -> Refusal {
        if !matches!(refusal, Refusal::UsageLimitReached { .. } | Refusal::AutoRevoked(_)) {
            return refusal;
        }
        let recorded = async { self.commit_record(authorized.record_refusal(&refusal, &self.env()?)?).await };
        recorded.await.err().unwrap_or(refusal)
    }
}

/// The entry of a write with its outcome, and the counts it gives back.
fn write_entry(open: &OpenPermit, outcome: UpstreamOutcome, env: &Env) -> Result<Effects, NotCanonical> {
    let no_effect = outcome.reports_no_effect(open.authorized.facts().route());
    let (text, result) = (outcome.text(), observed_write(open, outcome).result);
    let reversible = open.cancel.as_ref().map(|cancel| cancel.call_id.as_str());
    let bytes = outcome.bytes();
    open.authorized.record_write((&text, result), no_effect, reversible, bytes, &open.data_subjects, env)
}

/// The observed effect of a write, by its outcome.
fn observed_write(open: &OpenPermit, outcome: UpstreamOutcome) -> SeenWrite {
    let result = match outcome.report(open.authorized.facts().route()) {
        OutcomeReport::Committed => WriteResult::Ran,
        OutcomeReport::Failed { .. } => WriteResult::DidNotRun,
        OutcomeReport::Lost | OutcomeReport::Running => WriteResult::Unknown,
    };
    SeenWrite { result, body: open.body.get() }
}
