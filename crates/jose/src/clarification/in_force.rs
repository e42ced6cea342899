//! The valid keys of the asking agent at a point of its chain (W-20).

use super::{Flaw, Registry, Signer, Wrong, registry::within_grace};
use countersign_protocol::clarification::{PublicKey, Rotation, Stamp};

pub(super) struct InForce<'r> {
    registry: &'r Registry,
    pub(super) agent_id: String,
    pub(super) current: PublicKey,
    replaced: Vec<(PublicKey, Stamp)>,
    /// The current entry, for error messages.
    pub(super) entry: usize,
    /// The last use of the current key and its place: a later rotation may invalidate it.
    last_use: Option<(Stamp, String)>,
    overdue: Option<Wrong>,
    pub(super) signer: Signer,
}

impl<'r> InForce<'r> {
    pub(super) fn new(registry: &'r Registry, agent_id: &str, first: PublicKey) -> Self {
        Self {
            registry,
            agent_id: agent_id.to_owned(),
            current: first,
            replaced: Vec::new(),
            entry: 0,
            last_use: None,
            overdue: None,
            signer: Signer::Known,
        }
    }

    /// Refuses a key that is not the agent's at that time, according to the chain and the registry.
    pub(super) fn check(&mut self, key: &PublicKey, at: &Stamp, place: &str) -> Result<(), Wrong> {
        let registered = self.registry.judge(&self.agent_id, key, at).map_err(|flaw| Wrong::at(place, flaw))?;
        if registered == Signer::IntegrityOnly {
            self.signer = Signer::IntegrityOnly;
        }
        if *key == self.current {
            self.last_use = Some((at.clone(), format!("chain[{}].{place}", self.entry)));
            return Ok(());
        }
        let replaced = self.replaced.iter().rev().find(|(old, _)| old == key);
        let (_, since) = replaced.ok_or_else(|| Wrong::at(place, Flaw::AnotherKey))?;
        within_grace(since, at).map_err(|flaw| Wrong::at(place, flaw))
    }

    /// The same for signatures after the end of the chain: no entry can show a rotation then, so a key from outside the
    /// chain must be registered.
    pub(super) fn check_later(&mut self, key: &PublicKey, at: &Stamp, place: &str) -> Result<(), Wrong> {
        let registered = self.registry.judge(&self.agent_id, key, at) == Ok(Signer::Known);
        match self.check(key, at, place) {
            Err(Wrong { flaw: Flaw::AnotherKey, .. }) if registered => Ok(()),
            verdict => verdict,
        }
    }

    /// From here on the new key signs.
    pub(super) fn replace(&mut self, rotation: &Rotation) {
        if let Some((at, place)) = self.last_use.take() {
            self.overdue = within_grace(&rotation.rotated_at, &at).map_err(|flaw| Wrong::at(place, flaw)).err();
        }
        self.replaced.push((rotation.old_public_key.clone(), rotation.rotated_at.clone()));
        self.current = rotation.new_public_key.clone();
    }

    /// Reports an earlier entry that the old key signed too late, now that the rotation after it is known.
    pub(super) fn check_overdue(&mut self) -> Result<(), Wrong> {
        self.overdue.take().map_or(Ok(()), Err)
    }

    pub(super) fn registry(&self) -> &'r Registry {
        self.registry
    }
}
