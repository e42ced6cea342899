//! The one place that records the refusal of a decided call.

use crate::{services::Calls, store::Outcome};
use countersign_core::{
    aap::access::{CallFacts, CallVerdict, CountedLimits, Limit},
    refusal::Refusal,
    step::Effects,
};

impl Calls<'_> {
    /// Records a refusal, spends the proof with it, and returns the refusal for the caller.
    pub(super) async fn record_refusal(self, verdict: &CallVerdict, refusal: Refusal) -> Refusal {
        match Box::pin(self.commit_refusal(verdict, &refusal)).await {
            Ok(told) => told,
            Err(trouble) => trouble,
        }
    }

    async fn commit_refusal(self, verdict: &CallVerdict, refusal: &Refusal) -> Result<Refusal, Refusal> {
        let needs = match verdict {
            CallVerdict::Authorized(authorized) => {
                return match self.commit_record(authorized.record_refusal(refusal, &self.env()?)?).await {
                    // The unsettled call itself spent the proof, and has its own entry.
                    Err(Refusal::DpopReplayed) if matches!(refusal, Refusal::WriteUnsettled { .. }) => {
                        Ok(refusal.clone())
                    }
                    recorded => recorded.map(|()| refusal.clone()),
                };
            }
            CallVerdict::DryRun(call) => {
                let recorded = self.commit_record(call.record_refusal(refusal, &self.env()?)?).await;
                return recorded.map(|()| refusal.clone());
            }
            CallVerdict::NeedsApproval(needs) => needs,
        };
        let (effects, counted) = needs.record_refusal(refusal, &self.env()?)?;
        let uncounted = Effects { counts: Vec::new(), ..effects.clone() };
        match self.commit(effects).await {
            Outcome::Committed => {
                self.limit_cache.add(&counted);
                Ok(refusal.clone())
            }
            // This request exceeds the hour's limit: the refusal says so, and so does the audit.
            outcome @ Outcome::LimitReached { .. } => {
                let limited = self.limit_refusal(needs.facts(), &counted, &outcome).await;
                let limited =
                    if matches!(refusal, Refusal::UsageLimitReached { .. }) { refusal.clone() } else { limited };
                self.commit_record(uncounted).await?;
                Ok(limited)
            }
            Outcome::Replayed => Err(Refusal::DpopReplayed),
            _ => Err(Refusal::Unavailable),
        }
    }

    /// The refusal for the failure of a call's step.
    pub(super) async fn limit_refusal(self, facts: &CallFacts, counted: &CountedLimits, outcome: &Outcome) -> Refusal {
        self.limit_cache.forget(counted.iter());
        match outcome {
            Outcome::Replayed => Refusal::DpopReplayed,
            Outcome::LimitReached { counter } => match Limit::from_name(counter) {
                Some(limit) => Box::pin(self.end_if_used_up(facts, limit)).await,
                None => Refusal::Internal,
            },
            _ => Refusal::Unavailable,
        }
    }

    /// A policy's budget ends the delegation with the first call beyond it (AAP 8.3).
    async fn end_if_used_up(self, facts: &CallFacts, limit: Limit) -> Refusal {
        let refusal = facts.usage().refusal(limit, self.now());
        // A dry run commits nothing: the next call beyond the budget ends the delegation.
        match facts.delegation().filter(|_| limit.ends_delegation() && !facts.is_dry_run()) {
            Some(delegation) => self.agents().end_used_up(delegation).await.err().unwrap_or(refusal),
            None => refusal,
        }
    }

    /// Makes the record of a refusal durable; its proof is spent with it.
    pub(crate) async fn commit_record(self, effects: Effects) -> Result<(), Refusal> {
        match self.commit(effects).await {
            Outcome::Committed => Ok(()),
            Outcome::Replayed => Err(Refusal::DpopReplayed),
            _ => Err(Refusal::Unavailable),
        }
    }
}
