//! The step runner: an operation loads its view and decides, the step is committed, and if rows changed meanwhile, all
//! of it is repeated.

use crate::{
    engine::Engine,
    store::{Outcome, StoredProof},
};
use countersign_core::{
    refusal::Refusal,
    step::{Effects, Step},
};

/// How often an operation decides again when rows changed under it.
pub(crate) const TRIES: usize = 32;

impl Engine {
    /// Runs an operation until its step is durable, and returns its answer.
    ///
    /// Each attempt loads the view and decides with an env of its own, made after the view was loaded. An attempt without
    /// anything to write returns `Step::answer`.
    pub(crate) async fn run<A, E, F>(&self, attempt: impl Fn() -> F) -> Result<A, E>
    where
        E: From<Refusal>,
        F: Future<Output = Result<Step<A>, E>>,
    {
        self.run_locked(|| async { attempt().await.map(|step| ((), step)) }).await
    }

    /// The same for an attempt that takes a lock, which is held until its step is committed or turns out to be stale.
    pub(crate) async fn run_locked<L, A, E, F>(&self, attempt: impl Fn() -> F) -> Result<A, E>
    where
        E: From<Refusal>,
        F: Future<Output = Result<(L, Step<A>), E>>,
    {
        let (outcome, answer) = self.run_to_outcome(attempt).await?;
        match refusal_of(&outcome) {
            Some(refusal) => Err(refusal.into()),
            None => Ok(answer),
        }
    }

    /// The same for an operation with its own refusals for a step that was not committed. The outcome is never stale.
    pub(crate) async fn run_to_outcome<L, A, E, F>(&self, attempt: impl Fn() -> F) -> Result<(Outcome, A), E>
    where
        E: From<Refusal>,
        F: Future<Output = Result<(L, Step<A>), E>>,
    {
        for _ in 0..TRIES {
            let (_lock, Step { answer, effects }) = attempt().await?;
            match self.commit(effects).await {
                Outcome::Stale => {}
                outcome => return Ok((outcome, answer)),
            }
        }
        Err(Refusal::Unavailable.into())
    }

    /// Commits a step once and returns its answer; none if its view was stale.
    pub(crate) async fn finish<A>(&self, step: Step<A>) -> Result<Option<A>, Refusal> {
        match self.commit(step.effects).await {
            Outcome::Stale => Ok(None),
            outcome => refusal_of(&outcome).map_or(Ok(Some(step.answer)), Err),
        }
    }

    pub(crate) async fn commit(&self, mut effects: Effects) -> Outcome {
        if effects.is_empty() {
            return Outcome::Committed;
        }
        let proof = effects.proof.as_ref().map(StoredProof::of);
        let ended = self.announce_ended(&mut effects);
        let outcome = self.store.commit(effects).await;
        if outcome == Outcome::OutOfTime && self.clock_is_off_on_recheck().await {
            return Outcome::Unavailable("the clock cannot be trusted".into());
        }
        if let (Some(proof), Outcome::Committed | Outcome::Replayed) = (&proof, &outcome) {
            self.proofs.record_spent(proof, self.now());
        }
        if outcome == Outcome::Committed && !ended.is_empty() {
            self.credential_cache.remove_holders(&ended);
        }
        match &outcome {
            Outcome::Unavailable(why) => {
                tracing::error!(why, "a step could not be written");
                self.proofs.store_lost(self.now());
            }
            _ => self.proofs.store_recovered(self.now()),
        }
        outcome
    }

    /// Nobody is refused as late before the clocks were compared once more.
    async fn clock_is_off_on_recheck(&self) -> bool {
        self.measure_clock_skew().await.is_err() || self.check_clock().is_err()
    }
}

/// The refusal for a step that cannot be committed.
fn refusal_of(outcome: &Outcome) -> Option<Refusal> {
    match outcome {
        Outcome::Committed => None,
        Outcome::LimitReached { .. } | Outcome::Spent { .. } => Some(Refusal::Conflict("this was done already".into())),
        Outcome::Replayed => Some(Refusal::DpopReplayed),
        Outcome::OutOfTime => Some(Refusal::Conflict("the time for this is over".into())),
        Outcome::Stale | Outcome::Unavailable(_) => Some(Refusal::Unavailable),
    }
}
