//! A refused call, with its audit subject once its bearer is known.

use super::{Call, WantedScope, facts::CallPrincipal};
use crate::{
    env::Env,
    refusal::Refusal,
    step::{Effects, SpentProof},
};

#[derive(Clone, Debug)]
pub struct RefusedCall {
    pub refusal: Refusal,
    known: Option<Box<(CallPrincipal, Option<SpentProof>)>>,
    wanted: Option<Box<WantedScope>>,
}

impl RefusedCall {
    pub(super) fn anonymous(refusal: Refusal) -> Self {
        Self { refusal, known: None, wanted: None }
    }

    pub(super) fn of(refusal: Refusal, who: CallPrincipal, proof: Option<SpentProof>) -> Self {
        Self { refusal, known: Some(Box::new((who, proof))), wanted: None }
    }

    pub(super) fn wanting(self, wanted: Option<Box<WantedScope>>) -> Self {
        Self { wanted, ..self }
    }

    /// The scope that a person can be asked for, before the refusal is recorded.
    pub fn take_wanted_scope(&mut self) -> Option<Box<WantedScope>> {
        self.wanted.take()
    }

    /// For a call with a proof already used when it became pending.
    pub fn without_proof(mut self) -> Self {
        if let Some(known) = &mut self.known {
            known.1 = None;
        }
        self
    }

    /// The same refused call with what became of the request for its scope.
    #[must_use]
    pub fn with_refusal(self, refusal: Refusal) -> Self {
        Self { refusal, ..self }
    }

    /// The audit entry of a refused call with a known bearer. It uses the call's proof.
    pub fn record(&self, call: &Call, env: &Env) -> Option<Effects> {
        let (who, proof) = &**self.known.as_ref()?;
        let evidence = vec![who.refusal_entry(&self.refusal, call, env)?];
        Some(Effects { evidence, proof: proof.clone(), ..Effects::default() })
    }
}
