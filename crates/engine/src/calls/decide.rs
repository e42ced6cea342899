//! Deciding a call before anything of its body is read.

use super::{BodyDigest, DecidedCall, Permit, permit::OpenPermit, repeats::FreshWrite, reversible::PlannedCancel};
use crate::{
    inflight_writes::InflightWrite,
    projects::{Address, ProjectAt},
    runner::TRIES,
    services::Calls,
    store::{Outcome, PlansLiveOfSession},
};
use countersign_core::{
    aap::access::{
        AccessView, AuthorizedCall, Call, CallFacts, CallVerdict, CountedLimits, DryRun, ProvenProof, Proving,
        RefusedCall, decide, within_plans,
    },
    records::UnsettledWrite,
    refusal::Refusal,
};
use std::sync::{Arc, OnceLock};

/// A write that is being sent, its row if the route recognises repeats, and its id if its upstream can undo it.
type Begun = (Option<InflightWrite>, Option<Box<UnsettledWrite>>, Option<String>);
/// The result of verifying a proof.
type Checked = Result<ProvenProof, String>;

impl Calls<'_> {
    /// Decides a call by its head alone. A refusal is recorded before it is returned.
    pub async fn decide(self, address: &Address, call: Box<Call>) -> Result<DecidedCall, Refusal> {
        let generation = self.ended_holders.generation();
        let verdict = self.decide_arrived(address, &call).await?;
        let decided = DecidedCall::new(self.engine, verdict, call, address.clone()).in_generation(generation);
        match self.check_before_body(&decided).await {
            Ok(()) => Ok(decided),
            Err(refusal) => Err(decided.refuse(refusal).await),
        }
    }

    /// The checks of an authorized call before any of its body is read.
    async fn check_before_body(self, decided: &DecidedCall) -> Result<(), Refusal> {
        let Some(authorized) = decided.authorized() else { return Ok(()) };
        let speculative = authorized.facts().route().is_speculative();
        if speculative && let Some(proof) = authorized.proof() {
            self.proofs.spend(proof, self.now())?;
        }
        self.clarifications().check_call(authorized.facts()).await?;
        if speculative { self.check_speculation(authorized).await } else { Ok(()) }
    }

    /// A speculative read is forwarded at once, unless its session or delegation ended since it was decided; its response
    /// stays sealed until its record is durable.
    pub(super) fn speculate(self, decided: DecidedCall) -> Result<Permit, Refusal> {
        let decided_in = Some(decided.decided_in);
        let (authorized, call, address) = decided.into_authorized().ok_or(Refusal::Internal)?;
        Ok(Permit::new(self.engine, OpenPermit { decided_in, ..OpenPermit::new(authorized, call, address) }))
    }

    /// A read runs ahead of its record only as long as records can be written, and while its limits have room.
    async fn check_speculation(self, authorized: &AuthorizedCall) -> Result<(), Refusal> {
        if !self.store.is_sound() {
            match self.commit(authorized.recheck()).await {
                Outcome::Committed | Outcome::Stale => {}
                _ => return Err(Refusal::Unavailable),
            }
        }
        let facts = authorized.facts();
        match facts.limit_checks().iter().all(|count| self.limit_cache.has_room(count) == Some(true)) {
            true => Ok(()),
            false => Box::pin(self.check_limits(facts)).await,
        }
    }

    /// Makes the intent of a call without approval durable; only then may it be forwarded.
    pub(super) async fn begin(
        self,
        mut decided: DecidedCall,
        write: Option<FreshWrite>,
        cancel: Option<PlannedCancel>,
    ) -> Result<Permit, Refusal> {
        match self.commit_intent(&mut decided, write.as_ref(), cancel.as_ref()).await {
            Ok((inflight, row, reversible)) => {
                let (authorized, call, address) = decided.into_authorized().ok_or(Refusal::Internal)?;
                let open = OpenPermit::new(authorized.started(row), call, address);
                let body = write.map_or_else(BodyDigest::default, |write| write.body);
                let cancel = cancel.zip(reversible).map(|(cancel, call_id)| cancel.of_call(call_id));
                Ok(Permit::new(self.engine, OpenPermit { inflight, body, cancel, ..open }))
            }
            Err(refusal) => Err(decided.refuse(refusal).await),
        }
    }

    /// To be called before the write's intent is committed.
    pub(super) fn inflight_write(self, facts: &CallFacts) -> InflightWrite {
        self.inflight_writes.begin(facts.session(), facts.delegation())
    }

    async fn commit_intent(
        self,
        decided: &mut DecidedCall,
        write: Option<&FreshWrite>,
        cancel: Option<&PlannedCancel>,
    ) -> Result<Begun, Refusal> {
        let cancel = cancel.map(|cancel| &cancel.call);
        // Not the step runner: between two commits the call is decided again.
        for _ in 0..TRIES {
            self.require_recent_feed().await?;
            let authorized = decided.authorized().ok_or(Refusal::Internal)?;
            let inflight = self.inflight_write(authorized.facts());
            let intent = authorized.intent(write.map(|write| &write.fingerprint), cancel, &self.env()?)?;
            match self.commit(intent.effects).await {
                Outcome::Committed => {
                    self.limit_cache.add(&intent.counted);
                    return Ok((Some(inflight), intent.write, intent.reversible));
                }
                Outcome::Stale => self.agents().forget_credential(&decided.address, &decided.call),
                outcome => return Err(self.limit_refusal(authorized.facts(), &intent.counted, &outcome).await),
            }
            if let Some(write) = write {
                self.refuse_late_repeat(authorized.facts(), write).await?;
            }
            match Box::pin(self.decide_again(decided, false)).await? {
                // The project changed between two readings; the next request is decided by its new document.
                CallVerdict::NeedsApproval(_) | CallVerdict::DryRun(_) => return Err(Refusal::Unavailable),
                verdict => decided.set_verdict(verdict),
            }
        }
        Err(Refusal::Unavailable)
    }

    /// Whether the limits have room. A caller without room is refused before a person is asked or the upstream is called
    /// the call's own step counts later.
    pub(super) async fn check_limits(self, facts: &CallFacts) -> Result<(), Refusal> {
        self.check_room(facts, facts.limit_checks()).await
    }

    pub(super) async fn check_room(self, facts: &CallFacts, room: CountedLimits) -> Result<(), Refusal> {
        for count in room.iter() {
            let stands = self.store.count(&count.key).await?;
            self.limit_cache.set(&count.key, stands);
            if stands > count.limit {
                return Err(self.limit_refusal(facts, &room, &Outcome::LimitReached { counter: count.name }).await);
            }
        }
        Ok(())
    }

    /// The decision of a call that arrives now: it is a use of its delegation from this network. What is decided again later
    /// came from it then.
    pub(super) async fn decide_arrived(self, address: &Address, call: &Call) -> Result<CallVerdict, Refusal> {
        let verdict = self.decide_call(address, call, false).await?;
        // A person's suspension and this one are refused in the same place of R-28.
        if !self.agents().suspended_by_use(verdict.facts(), call).await? {
            return Ok(verdict);
        }
        self.agents().forget_credential(address, call);
        Box::pin(self.decide_call(address, call, false)).await
    }

    /// One decision, from memory if it allows the call, else from the store. A refusal is recorded before it is returned.
    /// `spent`: the call's proof was spent before.
    pub(super) async fn decide_call(self, address: &Address, call: &Call, spent: bool) -> Result<CallVerdict, Refusal> {
        match self.verdict(address, call).await? {
            Ok(verdict) => Ok(verdict),
            Err(refused) if spent => Box::pin(self.refuse(address, call, refused.without_proof())).await,
            Err(refused) => Box::pin(self.refuse(address, call, refused)).await,
        }
    }

    /// Decides the same call again. A refusal is recorded here, so its guard has nothing left to record.
    pub(super) async fn decide_again(self, decided: &mut DecidedCall, spent: bool) -> Result<CallVerdict, Refusal> {
        let verdict = match &decided.queued {
            Some(decision) => {
                let (_, verdict) = Box::pin(self.queued_verdict(decision, Call::clone(&decided.call))).await?;
                verdict.map(CallVerdict::NeedsApproval)
            }
            None => self.verdict(&decided.address, &decided.call).await?,
        };
        let refused = match verdict {
            Ok(verdict) => return Ok(verdict),
            Err(refused) if spent => refused.without_proof(),
            Err(refused) => refused,
        };
        decided.mark_recorded();
        self.refuse(&decided.address, &decided.call, refused).await
    }

    async fn verdict(self, address: &Address, call: &Call) -> Result<Result<CallVerdict, RefusedCall>, Refusal> {
        // A call that expands its consent silently is decided again once that is recorded. A dry run records nothing.
        for _ in 0..TRIES {
            let verdict = self.verdict_on_records(address, call).await?;
            let Ok(found) = &verdict else { return Ok(verdict) };
            let facts = found.facts();
            let Some(scope) = facts.new_expansion().filter(|_| call.dry_run == DryRun::No) else { return Ok(verdict) };
            Box::pin(self.expand_silently(facts, scope)).await?;
            self.agents().forget_credential(address, call);
        }
        Err(Refusal::Unavailable)
    }

    async fn verdict_on_records(
        self,
        address: &Address,
        call: &Call,
    ) -> Result<Result<CallVerdict, RefusedCall>, Refusal> {
        let view = self.agents().access_view(address, call).await?;
        // A signature is verified once, even if the rest is decided repeatedly.
        let memo = OnceLock::new();
        match self.decide_on(&view, call, &memo) {
            Ok(verdict) if verdict.rests_on_own_word() => {
                let plans = self.find_all(PlansLiveOfSession(verdict.facts().session())).await?;
                Ok(Ok(within_plans(verdict, &plans)))
            }
            Ok(CallVerdict::Authorized(call)) => Ok(Ok(CallVerdict::Authorized(call))),
            // A refusal from memory is confirmed by the store. The same goes for a dry run, which shows rows, and for a call that needs approval: it is mostly
            // refused as well, without a step and its guards to notice a revocation meanwhile.
            _ if view.bearer.is_some() => {
                self.agents().forget_credential(address, call);
                let view = self.agents().access_view(address, call).await?;
                Ok(self.decide_on(&view, call, &memo))
            }
            decided => Ok(decided),
        }
    }

    fn decide_on(
        self,
        view: &Arc<AccessView>,
        call: &Call,
        memo: &OnceLock<Checked>,
    ) -> Result<CallVerdict, RefusedCall> {
        let verify = |raw: &str| {
            let token = call.token().map(|(hash, _)| hash);
            let (method, url) = call.proven_for();
            memo.get_or_init(|| self.verify_proof(raw, &method, &url, token)).clone()
        };
        let nonce_demanded = view.project.document.dpop.nonce_at_calls || self.is_new_epoch();
        decide(call, view, &Proving { verify: &verify, nonce_demanded }, self.now())
    }

    async fn refuse(self, address: &Address, call: &Call, refused: RefusedCall) -> Result<CallVerdict, Refusal> {
        let refused = Box::pin(self.request_scope(address, refused)).await;
        Err(self.record_refused(call, refused).await)
    }

    /// Records a refused call, and returns its refusal.
    pub(super) async fn record_refused(self, call: &Call, refused: RefusedCall) -> Refusal {
        let recorded = async {
            match refused.record(call, &self.env()?) {
                Some(effects) => self.commit_record(effects).await,
                None => Ok(()),
            }
        };
        recorded.await.err().unwrap_or(refused.refusal)
    }

    /// `DPoP-Nonce` for responses to calls, when nonces are on (C-27).
    pub async fn nonce_for_calls(self, address: &Address) -> Option<String> {
        if self.is_new_epoch() {
            return self.nonce();
        }
        // The cache may decide whether to send one more header, but not whether to demand a nonce.
        let on = match self.project_cache.at_address(address) {
            Some(project) => project.document.dpop.nonce_at_calls,
            None => self.project(address).await.is_ok_and(|at| at.project.document.dpop.nonce_at_calls),
        };
        if on { self.nonce() } else { None }
    }

    /// The same where the project is known already.
    pub fn nonce_for_calls_at(self, at: &ProjectAt) -> Option<String> {
        let demanded = self.is_new_epoch() || at.project.document.dpop.nonce_at_calls;
        if demanded { self.nonce() } else { None }
    }
}
