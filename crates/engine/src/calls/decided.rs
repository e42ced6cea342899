//! A decided call ends in the record: authorized and settled, refused, or, when it is dropped, abandoned.

use crate::{completion::Completion, ended_holders::Generation, engine::Engine, projects::Address, services::Calls};
use countersign_core::{
    aap::access::{AuthorizedCall, Call, CallFacts, CallVerdict, DryRunCall, NeedsApproval},
    records::Decision,
    refusal::Refusal,
    step::Effects,
};
use futures_util::future::BoxFuture;
use std::sync::Arc;

const ABANDONED: &str = "not sent: the caller left";

/// A call that was decided and has not ended yet. It permits nothing.
#[must_use = "a decided call is either carried out or refused"]
pub struct DecidedCall {
    engine: Arc<Engine>,
    verdict: Option<CallVerdict>,
    pub(super) call: Box<Call>,
    pub(super) address: Address,
    /// The decision of a call that was held for its undo window.
    pub(super) queued: Option<Box<Decision>>,
    /// The generation before it was decided; the oldest where it does not matter.
    pub(super) decided_in: Generation,
    /// Whether the call is not recorded yet.
    open: bool,
}

impl DecidedCall {
    pub(super) fn new(engine: &Arc<Engine>, verdict: CallVerdict, call: Box<Call>, address: Address) -> Self {
        let decided_in = Generation::default();
        Self { engine: Arc::clone(engine), verdict: Some(verdict), call, address, queued: None, decided_in, open: true }
    }

    pub(super) fn in_generation(mut self, decided_in: Generation) -> Self {
        self.decided_in = decided_in;
        self
    }

    /// A call that was held for its undo window: decided again from its rows, not from a credential.
    pub(super) fn in_queue(mut self, decision: Decision) -> Self {
        self.queued = Some(Box::new(decision));
        self
    }

    #[expect(clippy::expect_used, reason = "only `authorized` takes the verdict, and it consumes the call")]
    fn verdict(&self) -> &CallVerdict {
        self.verdict.as_ref().expect("a decided call has its verdict")
    }

    pub fn facts(&self) -> &CallFacts {
        self.verdict().facts()
    }

    /// The call as far as it needs a person's approval.
    pub(super) fn needs_approval(&self) -> Option<&NeedsApproval> {
        match self.verdict() {
            CallVerdict::NeedsApproval(needs) => Some(needs),
            CallVerdict::Authorized(_) | CallVerdict::DryRun(_) => None,
        }
    }

    /// The call as a dry run that is answered here.
    pub(super) fn dry_run(&self) -> Option<&DryRunCall> {
        match self.verdict() {
            CallVerdict::DryRun(call) => Some(call),
            CallVerdict::Authorized(_) | CallVerdict::NeedsApproval(_) => None,
        }
    }

    pub(super) fn authorized(&self) -> Option<&AuthorizedCall> {
        match self.verdict() {
            CallVerdict::Authorized(authorized) => Some(authorized),
            CallVerdict::NeedsApproval(_) | CallVerdict::DryRun(_) => None,
        }
    }

    /// The same call, decided again.
    pub(super) fn set_verdict(&mut self, verdict: CallVerdict) {
        self.verdict = Some(verdict);
    }

    /// A call becomes pending only after its proof is spent and the request is counted.
    pub(super) fn set_waiting(&mut self) {
        self.verdict = self.verdict.take().map(|verdict| match verdict {
            CallVerdict::NeedsApproval(needs) => CallVerdict::NeedsApproval(needs.into_pending()),
            verdict => verdict,
        });
    }

    /// From here on another value is responsible for the record: a permit, or a refusal that is written already.
    pub(super) fn mark_recorded(&mut self) {
        self.open = false;
    }

    /// Hands the authority on to a permit. None for a call that needs approval: it has none, and is abandoned.
    pub(super) fn into_authorized(mut self) -> Option<(AuthorizedCall, Box<Call>, Address)> {
        match self.verdict.take() {
            Some(CallVerdict::Authorized(authorized)) => {
                self.open = false;
                Some((authorized, std::mem::take(&mut self.call), self.address.clone()))
            }
            verdict => {
                self.verdict = verdict;
                None
            }
        }
    }

    /// Records the refusal, spends the proof and returns the refusal for the caller.
    pub fn refuse(self, refusal: Refusal) -> BoxFuture<'static, Refusal> {
        Box::pin(self.refuse_now(refusal))
    }

    async fn refuse_now(mut self, refusal: Refusal) -> Refusal {
        // A proof that was spent before belongs to another call, which has its own entry.
        if !self.open || refusal == Refusal::DpopReplayed {
            self.open = false;
            return refusal;
        }
        self.open = false;
        let (engine, verdict) = (Arc::clone(&self.engine), self.verdict.take());
        let Some(verdict) = verdict else { return refusal };
        // The record is written even if the caller hangs up now.
        let recording = {
            let engine = Arc::clone(&engine);
            async move { engine.calls().record_refusal(&verdict, refusal).await }
        };
        Completion::of(recording, &engine.tasks).await.unwrap_or(Refusal::Unavailable)
    }
}

impl Drop for DecidedCall {
    fn drop(&mut self) {
        let Some(verdict) = self.verdict.take().filter(|_| self.open) else { return };
        self.engine.calls().record_in_background(move |env| match &verdict {
            CallVerdict::Authorized(authorized) => authorized.record_abandonment(ABANDONED, env),
            CallVerdict::NeedsApproval(needs) => needs.record_abandonment(ABANDONED, env),
            CallVerdict::DryRun(call) => call.record_abandonment(ABANDONED, env),
        });
    }
}

impl Calls<'_> {
    /// For a dropped guard: no task awaits the record, and it is written all the same.
    pub(super) fn record_in_background<F, E>(self, effects: F)
    where
        F: FnOnce(&countersign_core::env::Env) -> Result<Effects, E>,
    {
        let effects = self.record_env().ok().and_then(|env| effects(&env).ok());
        let (Some(effects), Ok(runtime)) = (effects, tokio::runtime::Handle::try_current()) else {
            tracing::error!("an abandoned call could not be recorded");
            return;
        };
        let engine = Arc::clone(self.engine);
        self.tasks.spawn_on(
            async move {
                if let Err(refusal) = engine.calls().commit_record(effects).await {
                    tracing::warn!(%refusal, "an abandoned call could not be recorded");
                }
            },
            &runtime,
        );
    }
}
