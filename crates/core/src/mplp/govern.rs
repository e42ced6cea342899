//! Locks a Confirm, so that only a person entitled to override the lock can decide it (M-27).

use crate::{
    decision::{
        ProjectRef,
        answer::{NotCounted, ProvenPerson},
    },
    env::Env,
    evidence::DraftEntry,
    records::{Decision, Record},
    step::{Effects, Operation, Step},
};
use countersign_protocol::mplp::Governance;

pub struct Govern {
    pub by: ProvenPerson,
    pub governance: Governance,
}

pub struct GovernView {
    pub place: ProjectRef,
    pub decision: Decision,
}

impl Operation for Govern {
    type View = GovernView;
    type Answer = Decision;
    type Refusal = NotCounted;

    fn decide(self, view: &GovernView, env: &Env) -> Result<Step<Decision>, NotCounted> {
        if !self.by.may_answer || !self.by.deciding.overrides() {
            return Err(NotCounted::NotEntitled);
        }
        if !view.decision.is_pending() {
            return Err(NotCounted::Settled);
        }
        let locked = self.governance.locked == Some(true);
        let governed =
            Decision { governance: Some(self.governance), version: view.decision.version + 1, ..view.decision.clone() };
        let entry = DraftEntry::new((view.place.0, &view.place.1), "decision_governed", env.now)
            .open("decision_id", governed.id.as_str())
            .open("locked", locked)
            .open("role", self.by.deciding.label());
        let entry = self.by.record(entry);
        let effects = Effects {
            guards: self.by.guards.clone(),
            puts: vec![Record::Decision(governed.clone())],
            evidence: vec![entry.seal(&mut env.mint())?],
            ..Effects::default()
        };
        Ok(Step { answer: governed, effects })
    }
}
