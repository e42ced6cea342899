//! Authority as a value that cannot be made up: it exists only because its step is durable, and it fits one request.

use super::Watch;
use crate::{forwards::UnderWay, projects::Address};
use countersign_core::{
    aap::access::{Call, Grant},
    held::HttpRequest,
};
use countersign_protocol::{action::Action, hash::Digest, ids::RowKey};
use std::time::Duration;

/// A write that is let through once. Its intent, and the claim if it was held, are durable.
pub struct Permit {
    pub(crate) grant: Grant,
    pub(crate) held: Option<Box<HeldFacts>>,
    /// None once the write was handed on.
    pub(crate) under_way: Option<UnderWay>,
    pub(crate) call: Call,
    pub(crate) address: Address,
}

/// What stands behind a write that a person confirmed.
#[derive(Clone, Debug)]
pub struct HeldFacts {
    pub(crate) decision: RowKey,
    pub(crate) decision_id: String,
    pub(crate) execution_id: String,
    pub(crate) digest: Digest,
    pub(crate) effect_key: Option<String>,
    pub(crate) lease_s: i64,
}

/// A read that may run; its answer stays sealed until its record is durable.
pub struct ReadPermit {
    pub(crate) grant: Grant,
    pub(crate) call: Call,
    pub(crate) address: Address,
    /// None for a speculative read, and once the read was handed on.
    pub(crate) under_way: Option<UnderWay>,
}

impl Permit {
    /// To be called when the write has been handed to the service behind: whoever revokes waits for it.
    pub fn handed_on(&mut self) {
        self.under_way = None;
    }

    pub fn grant(&self) -> &Grant {
        &self.grant
    }

    pub fn held(&self) -> Option<&HeldFacts> {
        self.held.as_deref()
    }

    pub fn is_held(&self) -> bool {
        self.held.is_some()
    }

    /// Whether these are the very bytes that were confirmed. To be asked right before they are sent, also in release
    /// builds.
    pub fn covers(&self, request: &HttpRequest) -> bool {
        let Some(held) = &self.held else { return self.covers_head(&request.method, &request.target) };
        let Some(principal) = self.grant.delegation_id() else { return false };
        let action = request.action(&self.grant.project().id, principal, self.grant.route());
        Action::Http(action).digest().is_ok_and(|digest| digest == held.digest)
    }

    /// Whether this is the call that was decided, for a body that was not looked at.
    pub fn covers_head(&self, method: &str, target: &str) -> bool {
        self.grant.covers(method, target)
    }

    pub fn effect_key(&self) -> Option<&str> {
        self.held.as_ref()?.effect_key.as_deref()
    }

    /// How often the lease of a claim is to be renewed.
    pub fn renew_every(&self) -> Duration {
        let lease_s = self.held.as_ref().map_or(60, |held| held.lease_s);
        Duration::from_millis(lease_s.unsigned_abs().saturating_mul(1000) / 3)
    }

    pub fn watch(&self) -> Watch {
        Watch { grant: self.grant.clone(), call: self.call.clone(), address: self.address.clone() }
    }
}

impl HeldFacts {
    pub fn decision_id(&self) -> &str {
        &self.decision_id
    }

    pub fn digest(&self) -> &Digest {
        &self.digest
    }
}

impl ReadPermit {
    /// To be called when the read has been handed to the service behind, as for a write.
    pub fn handed_on(&mut self) {
        self.under_way = None;
    }

    pub fn grant(&self) -> &Grant {
        &self.grant
    }

    pub fn covers_head(&self, method: &str, target: &str) -> bool {
        self.grant.covers(method, target)
    }

    pub fn watch(&self) -> Watch {
        Watch { grant: self.grant.clone(), call: self.call.clone(), address: self.address.clone() }
    }
}
