//! Continuing after a leap of the clock, by an administrator's acceptance.

use crate::{
    dpop::EPOCH_S,
    engine::Engine,
    node_clock::MOST_MS,
    store::{AllAccessTokens, AllPeople, AllowancesDue, DecisionsDue, ExecutionsDue, KeptTime, Outcome},
    timekeeping::ClockFault,
};
use countersign_core::{
    clock::{AcceptClock, AcceptClockView, ClockAccepted, EndedWithClock, ends_sign_ins},
    decision::due::{EndLeaseWithClock, LapseWithClock, QuestionDue},
    records::Project,
    refusal::Refusal,
    step::{Operation as _, Step},
};
use countersign_protocol::{ids::RowKey, time::UnixMillis};
use std::{collections::BTreeMap, sync::Arc};

const ALL: (UnixMillis, i64) = (UnixMillis(i64::MAX), i64::MAX);

/// The clocks of a node, for its operators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockShown {
    /// The node's time.
    pub time: UnixMillis,
    /// The machine's clock.
    pub machine: UnixMillis,
    /// The store's clock: the database server's, or the latest time at which a SQLite file was used.
    pub store: UnixMillis,
    pub trouble: Option<ClockFault>,
    pub accepted: i64,
}

impl Engine {
    pub async fn show_clock(self: &Arc<Self>) -> Result<ClockShown, Refusal> {
        self.measure_clock_skew().await?;
        Ok(ClockShown {
            time: self.now(),
            machine: self.clock.wall(),
            store: self.store.now().await?,
            trouble: self.clock_fault(),
            accepted: self.time.accepted(),
        })
    }

    /// Continues by the present clock. Open approvals lapse, a new epoch of nonces begins, and every project's evidence
    /// says so. Pending questions keep their deadlines, except those asked at a time that is still to come.
    pub async fn accept_clock(self: &Arc<Self>, reason: &str) -> Result<ClockAccepted, Refusal> {
        let _lock = self.time.accepting.lock().await;
        self.measure_clock_skew().await?;
        let Some(trouble) = self.clock_fault() else {
            return Err(Refusal::Conflict("the clock is in order: there is nothing to accept".into()));
        };
        let (was, now) = (self.time_before_fault(trouble), self.trusted_time().await?);
        // Checked before anything ends; the step is made again below, with the ended records.
        let nothing = AcceptClockView { projects: Vec::new(), people: Vec::new(), access_tokens: Vec::new() };
        AcceptClock { was, reason: reason.to_owned() }.decide(&nothing, &self.env_at(now)?)?;
        let ended = self.end_with_clock(now).await?;
        let accepted = self.record_accepted_clock((was, now), reason, &ended).await?;
        self.adopt_clock(was, now).await?;
        tracing::warn!(was = %was.to_rfc3339(), now = %now.to_rfc3339(), "the clock was accepted; decisions continue");
        Ok(accepted)
    }

    fn time_before_fault(self: &Arc<Self>, trouble: ClockFault) -> UnixMillis {
        match trouble {
            ClockFault::Behind { kept, .. } => kept,
            ClockFault::Leapt { .. } | ClockFault::Apart { .. } => self.now(),
        }
    }

    /// The database server's clock decides where there is one; this node must agree with it.
    async fn trusted_time(self: &Arc<Self>) -> Result<UnixMillis, Refusal> {
        let machine = self.clock.wall();
        if !self.store.has_own_clock() {
            return Ok(machine);
        }
        let store = self.store.now().await?;
        let apart = store.millis_since(machine);
        if apart.abs() > MOST_MS {
            return Err(Refusal::Conflict(format!(
                "this machine's clock ({}) and the database server's ({}) do not agree; set the one that is wrong first",
                machine.to_rfc3339(),
                store.to_rfc3339()
            )));
        }
        Ok(store)
    }

    async fn end_with_clock(self: &Arc<Self>, now: UnixMillis) -> Result<BTreeMap<RowKey, EndedWithClock>, Refusal> {
        let (mut ended, (by, limit)) = (BTreeMap::<_, EndedWithClock>::new(), ALL);
        let still_to_come = |at: UnixMillis| at.millis_since(now) > MOST_MS;
        let allowances = self.find_all(AllowancesDue { by, limit }).await?;
        for allowance in allowances {
            if self.lapse_with_clock(allowance.key, now).await? {
                ended.entry(allowance.project).or_default().approvals += 1;
            }
        }
        let executions = self.find_all(ExecutionsDue { by, limit }).await?;
        for execution in executions.into_iter().filter(|execution| still_to_come(execution.claimed_at)) {
            if self.end_lease_with_clock(execution.key, now).await? {
                ended.entry(execution.project).or_default().claims += 1;
            }
        }
        let questions = self.find_all(DecisionsDue { by, limit }).await?;
        for question in questions.into_iter().filter(|question| still_to_come(question.asked_at)) {
            if self.expire_with_clock(question.key, now).await? {
                ended.entry(question.project).or_default().questions += 1;
            }
        }
        Ok(ended)
    }

    async fn lapse_with_clock(self: &Arc<Self>, key: RowKey, now: UnixMillis) -> Result<bool, Refusal> {
        self.run_locked(|| async {
            let Some((lock, view)) = self.decisions().lock_allowance(key).await? else {
                return Ok((None, Step::answer(false)));
            };
            Ok((lock, LapseWithClock.decide(&view, &self.env_at(now)?)?))
        })
        .await
    }

    async fn end_lease_with_clock(self: &Arc<Self>, key: RowKey, now: UnixMillis) -> Result<bool, Refusal> {
        self.run_locked(|| async {
            let Some((lock, view)) = self.decisions().lock_execution(key).await? else {
                return Ok((None, Step::answer(false)));
            };
            Ok((lock, EndLeaseWithClock.decide(&view, &self.env_at(now)?)?))
        })
        .await
    }

    /// Expires a question: its deadline would be late by as much as the clock was ahead.
    async fn expire_with_clock(self: &Arc<Self>, key: RowKey, now: UnixMillis) -> Result<bool, Refusal> {
        let expire = || async {
            let found = self.decisions().lock_decision(key).await?;
            let Some((lock, view)) = found.filter(|(_, view)| view.decision.is_pending()) else {
                return Ok((None, Step::answer(false)));
            };
            let over = QuestionDue { serving_since: now, nobody_there: true };
            Ok::<_, Refusal>((lock, over.decide(&view, &self.env_at(now)?)?.map(|()| true)))
        };
        match self.run_to_outcome(expire).await? {
            (Outcome::Committed, ended) => Ok(ended),
            _ => Err(Refusal::Unavailable),
        }
    }

    async fn record_accepted_clock(
        self: &Arc<Self>,
        (was, now): (UnixMillis, UnixMillis),
        reason: &str,
        ended: &BTreeMap<RowKey, EndedWithClock>,
    ) -> Result<ClockAccepted, Refusal> {
        self.run(|| async {
            let view = self.accept_clock_view(ends_sign_ins(was, now), ended).await?;
            AcceptClock { was, reason: reason.to_owned() }.decide(&view, &self.env_at(now)?)
        })
        .await
    }

    async fn accept_clock_view(
        self: &Arc<Self>,
        signs_out: bool,
        ended: &BTreeMap<RowKey, EndedWithClock>,
    ) -> Result<AcceptClockView, Refusal> {
        let with_ended = |project: Project| {
            let found = ended.get(&project.key).copied().unwrap_or_default();
            ((project.key, project.id), found)
        };
        let projects = self.projects().await?.into_iter().map(with_ended).collect();
        let mut view = AcceptClockView { projects, people: Vec::new(), access_tokens: Vec::new() };
        if signs_out {
            let tokens = self.find_all(AllAccessTokens).await?;
            view.access_tokens = tokens.iter().map(|token| token.key).collect();
            view.people = self.find_all(AllPeople).await?;
        }
        Ok(view)
    }

    /// Everything is recorded. Nothing is decided before the new epoch of nonces has begun.
    async fn adopt_clock(self: &Arc<Self>, was: UnixMillis, now: UnixMillis) -> Result<(), Refusal> {
        let nonces_until = was.max(now).plus_secs(EPOCH_S);
        let known = self.time.accepted();
        self.restart_after_acceptance(KeptTime { last: now, accepted: known.saturating_add(1), nonces_until }, now);
        let before = self.clock.accept();
        if let Err(why) = self.store.accept_time(now, nonces_until).await {
            self.clock.restore_basis(before);
            self.time.set_accepted(known);
            return Err(why.into());
        }
        self.measure_clock_skew().await?;
        self.time.set_serving_since(self.now());
        Ok(())
    }
}
