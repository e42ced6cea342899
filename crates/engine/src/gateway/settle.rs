//! What became of a call: durable before its answer leaves, and honest where nobody knows.

use super::{Egress, HeldFacts, Permit, ReadPermit};
use crate::{
    engine::{Engine, TRIES, unavailable},
    store::{self, Outcome},
    turns::Turn,
};
use countersign_core::{
    aap::access::{Grant, Verdict},
    decision::{
        due::ExecutionView,
        outcome::{Report, may_report},
    },
    env::Env,
    records::{Decision, Execution, Point},
    refusal::Refusal,
    step::{Effects, Operation as _},
};

/// What an enforcement point saw of the service behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Became {
    /// The head of its answer is there: its status with the usual words for it, and how much follows if it says so.
    Answered { status: u16, reason: &'static str, length: Option<u64> },
    /// Sent, or perhaps sent, and no answer came back.
    Lost(&'static str),
    /// Nothing was sent.
    NotSent(&'static str),
}

impl Became {
    /// `201 Created`, as the audit shows it.
    fn outcome(&self) -> String {
        match self {
            Self::Answered { status, reason, .. } => format!("{status} {reason}").trim_end().to_owned(),
            Self::Lost(why) => format!("unknown: {why}"),
            Self::NotSent(why) => format!("not sent: {why}"),
        }
    }

    /// Whether the service itself said that it did not do it. A 502 or 504 only says that something behind it was
    /// not heard of.
    fn is_refused_by_upstream(&self) -> bool {
        matches!(self, Self::Answered { status: 400.., .. }) && !self.is_unknown()
    }

    fn is_unknown(&self) -> bool {
        matches!(self, Self::Lost(_) | Self::Answered { status: 502 | 504, .. })
    }

    fn bytes(&self) -> i64 {
        match self {
            Self::Answered { length: Some(length), .. } => i64::try_from(*length).unwrap_or(i64::MAX),
            _ => 0,
        }
    }

    fn is_unsized(&self) -> bool {
        matches!(self, Self::Answered { length: None, .. })
    }

    fn report(&self) -> Report {
        match self {
            Self::NotSent(why) => Report::Failed { why: Some((*why).to_owned()), refused: false },
            _ if self.is_unknown() => Report::Lost,
            Self::Answered { status: 400.., .. } => Report::Failed { why: Some(self.outcome()), refused: true },
            _ => Report::Committed,
        }
    }
}

impl Engine {
    /// Records what became of a write; only then may its answer leave. The meter is for an answer of unknown length.
    pub async fn settle_write(&self, permit: Permit, became: &Became) -> Result<Option<Egress>, Refusal> {
        let Permit { grant, held, .. } = permit;
        for _ in 0..TRIES {
            let env = self.env()?;
            let (outcome, refused) = (became.outcome(), became.is_refused_by_upstream());
            let mut effects = grant.written(&outcome, refused, became.bytes(), &env)?;
            let _turn = match &held {
                Some(held) => self.report_held(held, &grant, became.report(), &env, &mut effects).await?,
                None => None,
            };
            let counts = effects.counts.clone();
            match self.commit(effects).await {
                Outcome::Committed => {
                    self.tallies.forget(&counts);
                    return Ok(Egress::of(&grant).filter(|_| became.is_unsized()));
                }
                Outcome::Stale => {}
                _ => return Err(Refusal::OutcomeUnrecorded),
            }
        }
        Err(Refusal::OutcomeUnrecorded)
    }

    /// The execution's end rides in the same step as the call's entry.
    async fn report_held(
        &self,
        held: &HeldFacts,
        grant: &Grant,
        report: Report,
        env: &Env,
        effects: &mut Effects,
    ) -> Result<Option<Turn<'_>>, Refusal> {
        let (turn, view) = self.execution_view(held, grant).await?;
        match report.decide(&view, env) {
            Ok(step) => {
                effects.puts.extend(step.effects.puts);
                effects.news.extend(step.effects.news);
                effects.evidence.extend(step.effects.evidence);
            }
            // A person found out before us; the call's own entry says what we saw.
            Err(Refusal::Conflict(why)) => tracing::warn!(why, "the outcome of a call was settled already"),
            Err(refusal) => return Err(refusal),
        }
        Ok(turn)
    }

    async fn execution_view(
        &self,
        held: &HeldFacts,
        grant: &Grant,
    ) -> Result<(Option<Turn<'_>>, ExecutionView), Refusal> {
        let decision: Decision =
            store::get(&*self.store, held.decision).await.map_err(unavailable)?.ok_or(Refusal::Internal)?;
        let turn = self.turns.take(decision.asked_in).await;
        let lookup = store::Lookup::ExecutionById { project: decision.project, id: held.execution_id.clone() };
        let execution: Option<Execution> = store::find_one(&*self.store, lookup).await.map_err(unavailable)?;
        let execution = execution.ok_or(Refusal::Internal)?;
        may_report(execution.point, Point::Gateway)?;
        let session = self.session_of_decision(&decision).await?;
        let place = (grant.project().key, grant.project().id.clone());
        Ok((turn, self.execution_seen(place, decision, session, execution).await?))
    }

    /// Renews the lease of a claim while the service behind works. That it could not is no reason to stop: whoever
    /// looks will find the claim unknown, and a late answer still counts.
    pub async fn renew(&self, permit: &Permit) {
        let Some(held) = &permit.held else { return };
        let renewed = async {
            let (_turn, view) = self.execution_view(held, &permit.grant).await?;
            let step = Report::Running.decide(&view, &self.env()?)?;
            Ok::<_, Refusal>(self.commit(step.effects).await)
        };
        if !matches!(renewed.await, Ok(Outcome::Committed)) {
            tracing::warn!(decision = held.decision_id, "the lease of a claim could not be renewed");
        }
    }

    /// Records a read and judges it once more: if it was cut off meanwhile, the answer must be dropped.
    pub async fn settle_read(&self, permit: ReadPermit, became: &Became) -> Result<Option<Egress>, Refusal> {
        let ReadPermit { mut grant, call, address, .. } = permit;
        let (outcome, bytes) = (became.outcome(), became.bytes());
        for _ in 0..TRIES {
            let (effects, counted) = grant.read(&outcome, bytes, &self.env()?)?;
            match self.commit(effects).await {
                Outcome::Committed => {
                    self.tallies.moved(&counted);
                    return Ok(Egress::of(&grant).filter(|_| became.is_unsized()));
                }
                Outcome::Stale => self.forget_bearer(&address, &call),
                outcome => return Err(self.turned_down(&grant, &counted, outcome).await),
            }
            let again = match grant.has_begun() {
                true => self.decide_waiting(&address, &call).await?,
                false => self.decide_call(&address, &call).await?,
            };
            grant = match again {
                Verdict::Granted(again) if grant.has_begun() => again.begun(),
                Verdict::Granted(again) => again,
                Verdict::Owed(_) => return Err(Refusal::Unavailable),
            };
        }
        Err(Refusal::Unavailable)
    }
}
