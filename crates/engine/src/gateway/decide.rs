//! Deciding a call before anything of its body is read.

use super::{Permit, ReadPermit};
use crate::{
    engine::{Engine, TRIES, unavailable},
    forwards::UnderWay,
    projects::{Address, ProjectAt},
    store::{self, Lookup, Outcome},
};
use countersign_core::{
    aap::access::{AccessView, Call, Counted, Grant, Owed, Proven, Proving, Refused, Verdict, decide, within_plans},
    records::Plan,
    refusal::Refusal,
    step::Effects,
};
use std::sync::{Arc, OnceLock};

/// What a look at a proof showed.
type Checked = Result<Proven, String>;

/// What a call came to.
pub enum Decided {
    /// A read that may be forwarded at once.
    Speculative(Box<ReadPermit>),
    /// A write, or a read whose route is not speculative: forwarded once its intent is durable.
    CommitFirst(Box<Undertaking>),
    Held(Box<Held>),
}

/// A call that may begin: its intent is not durable yet, and it permits nothing.
pub struct Undertaking {
    pub(crate) grant: Grant,
    pub(crate) call: Call,
    pub(crate) address: Address,
}

/// A call that is in order but for a person's yes to exactly it.
pub struct Held {
    pub(crate) owed: Owed,
    pub(crate) call: Call,
    pub(crate) address: Address,
}

impl Undertaking {
    pub fn grant(&self) -> &Grant {
        &self.grant
    }
}

impl Held {
    /// What is known about the call. It permits nothing.
    pub fn call(&self) -> &Grant {
        self.owed.call()
    }
}

impl Engine {
    pub async fn decide(&self, address: &Address, call: Call) -> Result<Decided, Refusal> {
        let address = address.clone();
        match self.decide_call(&address, &call).await? {
            Verdict::Owed(owed) => Ok(Decided::Held(Box::new(Held { owed, call, address }))),
            Verdict::Granted(grant) if grant.route().is_speculative() => {
                grant.proof().map_or(Ok(()), |proof| self.proofs.take(proof, self.now()))?;
                self.grant_is_clear(&grant).await?;
                self.may_run_ahead(&grant).await?;
                Ok(Decided::Speculative(Box::new(ReadPermit { grant, call, address, under_way: None })))
            }
            Verdict::Granted(grant) => {
                self.grant_is_clear(&grant).await?;
                Ok(Decided::CommitFirst(Box::new(Undertaking { grant, call, address })))
            }
        }
    }

    /// A read runs ahead of its record only as long as records can be written, and while its limits have room.
    async fn may_run_ahead(&self, grant: &Grant) -> Result<(), Refusal> {
        if !self.store.is_sound() {
            match self.commit(grant.recheck()).await {
                Outcome::Committed | Outcome::Stale => {}
                _ => return Err(Refusal::Unavailable),
            }
        }
        let room = grant.room();
        match room.iter().all(|count| self.tallies.has_room(count) == Some(true)) {
            true => Ok(()),
            false => self.look_at_limits(grant).await,
        }
    }

    /// Makes the intent of a write durable that nobody must confirm; only then may it be forwarded.
    pub async fn begin_write(&self, undertaking: Undertaking) -> Result<Permit, Refusal> {
        let (Undertaking { grant, call, address }, under_way) = self.begin(undertaking).await?;
        Ok(Permit { grant, held: None, under_way, call, address })
    }

    /// The same for a read whose route is not speculative.
    pub async fn begin_read(&self, undertaking: Undertaking) -> Result<ReadPermit, Refusal> {
        let (Undertaking { grant, call, address }, under_way) = self.begin(undertaking).await?;
        Ok(ReadPermit { grant, call, address, under_way })
    }

    async fn begin(&self, undertaking: Undertaking) -> Result<(Undertaking, Option<UnderWay>), Refusal> {
        let Undertaking { mut grant, call, address } = undertaking;
        for _ in 0..TRIES {
            let under_way = grant.delegation().map(|key| self.forwards.begin(key));
            let (effects, counted) = grant.intent(&self.env()?)?;
            match self.commit(effects).await {
                Outcome::Committed => {
                    self.tallies.moved(&counted);
                    return Ok((Undertaking { grant: grant.begun(), call, address }, under_way));
                }
                Outcome::Stale => self.forget_bearer(&address, &call),
                outcome => return Err(self.turned_down(&grant, &counted, outcome).await),
            }
            grant = match self.decide_call(&address, &call).await? {
                Verdict::Granted(grant) => grant,
                // The project changed its mind between two looks; whoever asks again is told what it says now.
                Verdict::Owed(_) => return Err(Refusal::Unavailable),
            };
        }
        Err(Refusal::Unavailable)
    }

    /// What the failure of a call's step means. A limit that is used up stands in the audit like any refusal.
    pub(super) async fn turned_down(&self, grant: &Grant, counted: &Counted, outcome: Outcome) -> Refusal {
        self.tallies.forget(counted.iter());
        let refusal = match outcome {
            Outcome::Replayed => return Refusal::DpopReplayed,
            Outcome::LimitReached { count } => match counted.limit(count) {
                Some(limit) => grant.usage().refusal(limit, self.now()),
                None => return Refusal::Internal,
            },
            _ => return Refusal::Unavailable,
        };
        let recorded = async {
            let effects = grant.turned_down(&refusal, &self.env()?)?;
            Ok::<_, Refusal>(self.commit(effects).await)
        };
        match recorded.await {
            Ok(Outcome::Committed) => refusal,
            Ok(Outcome::Replayed) => Refusal::DpopReplayed,
            _ => Refusal::Unavailable,
        }
    }

    /// The entry of a call that is turned away before it began: a body too long, a service that is not there.
    pub async fn turn_away(&self, undertaking: &Undertaking, refusal: Refusal) -> Refusal {
        let recorded = async {
            let effects = undertaking.grant.turned_down(&refusal, &self.env()?)?;
            self.recorded(effects).await
        };
        recorded.await.err().unwrap_or(refusal)
    }

    /// The same for a call that would have been held.
    pub async fn turn_held_away(&self, held: &Held, refusal: Refusal) -> Refusal {
        self.told(&held.owed, refusal).await
    }

    /// Whether the limits have room. Who has none is told before a person is asked or the service behind is troubled
    /// what counts is taken later, in the call's own step.
    pub(super) async fn look_at_limits(&self, grant: &Grant) -> Result<(), Refusal> {
        let room = grant.room();
        for (place, count) in room.iter().enumerate() {
            let stands = self.store.count(&count.key).await.map_err(unavailable)?;
            self.tallies.looked(&count.key, stands);
            if stands > count.limit {
                return Err(self.turned_down(grant, &room, Outcome::LimitReached { count: place }).await);
            }
        }
        Ok(())
    }

    /// One decision, from memory if that says yes, else from the store. A refusal is recorded before it is told.
    pub(super) async fn decide_call(&self, address: &Address, call: &Call) -> Result<Verdict, Refusal> {
        match self.verdict(address, call).await? {
            Ok(verdict) => Ok(verdict),
            Err(refused) => self.refuse(call, refused).await,
        }
    }

    /// The same for a call that waited, and whose proof was spent then.
    pub(super) async fn decide_waiting(&self, address: &Address, call: &Call) -> Result<Verdict, Refusal> {
        match self.verdict(address, call).await? {
            Ok(verdict) => Ok(verdict),
            Err(refused) => self.refuse(call, refused.without_proof()).await,
        }
    }

    async fn verdict(&self, address: &Address, call: &Call) -> Result<Result<Verdict, Refused>, Refusal> {
        let view = self.access_view(address, call).await?;
        // A signature is checked once, however often the rest is looked at.
        let memo = OnceLock::new();
        match self.decide_on(&view, call, &memo) {
            Ok(Verdict::Granted(grant)) if grant.is_self_asserted() => {
                let lookup = Lookup::PlansLiveOfSession(grant.session());
                let plans: Vec<Plan> = store::find_all(&*self.store, lookup).await.map_err(unavailable)?;
                Ok(Ok(within_plans(Verdict::Granted(grant), &plans)))
            }
            Ok(Verdict::Granted(grant)) => Ok(Ok(Verdict::Granted(grant))),
            // A refusal from memory is only believed once the store says the same. What is owed is mostly refused, too,
            // and without a step whose guards would notice that the caller was cut off meanwhile.
            _ if view.bearer.is_some() => {
                self.forget_bearer(address, call);
                let view = self.access_view(address, call).await?;
                Ok(self.decide_on(&view, call, &memo))
            }
            decided => Ok(decided),
        }
    }

    fn decide_on(&self, view: &Arc<AccessView>, call: &Call, memo: &OnceLock<Checked>) -> Result<Verdict, Refused> {
        let verify = |raw: &str| {
            let token = call.token().map(|(hash, _)| hash);
            let (method, url) = call.proven_for();
            memo.get_or_init(|| self.prove(raw, &method, &url, token)).clone()
        };
        let nonce_demanded = view.project.document.dpop.nonce_at_calls || self.is_new_epoch();
        decide(call, view, &Proving { verify: &verify, nonce_demanded }, self.now())
    }

    async fn refuse(&self, call: &Call, refused: Refused) -> Result<Verdict, Refusal> {
        if let Some(effects) = refused.record(call, &self.env()?) {
            self.recorded(effects).await?;
        }
        Err(refused.refusal)
    }

    /// Makes the record of a refusal durable; its proof is spent with it.
    pub(crate) async fn recorded(&self, effects: Effects) -> Result<(), Refusal> {
        match self.commit(effects).await {
            Outcome::Committed => Ok(()),
            Outcome::Replayed => Err(Refusal::DpopReplayed),
            _ => Err(Refusal::Unavailable),
        }
    }

    /// `DPoP-Nonce` for answers to calls, when nonces are on (C-27).
    pub async fn nonce_for_calls(&self, address: &Address) -> Option<String> {
        if self.is_new_epoch() {
            return self.nonce();
        }
        // Whether a header more is sent may be told from memory; whether a nonce is demanded is not.
        let on = match self.shared.last_at(address) {
            Some(project) => project.document.dpop.nonce_at_calls,
            None => self.project(address).await.is_ok_and(|at| at.project.document.dpop.nonce_at_calls),
        };
        if on { self.nonce() } else { None }
    }

    /// The same where the project is known already.
    pub fn nonce_for_calls_at(&self, at: &ProjectAt) -> Option<String> {
        let demanded = self.is_new_epoch() || at.project.document.dpop.nonce_at_calls;
        if demanded { self.nonce() } else { None }
    }
}
