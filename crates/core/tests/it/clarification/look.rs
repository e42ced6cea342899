//! Reads rows of the test fixture, and the documents handed out from them.

use super::world::World;
use countersign_core::{
    clarification::view,
    records::{ClarificationEntry, ClarificationSession, Record},
    step::{Effects, Step},
};
use countersign_jose::clarification::{check_audit, check_message, check_record};
use countersign_protocol::mplp::MplpId;
use serde_json::Value;

impl World {
    pub(crate) fn sessions(&self) -> impl Iterator<Item = &ClarificationSession> {
        self.plane.store.rows().filter_map(|record| match record {
            Record::ClarificationSession(row) => Some(row),
            _ => None,
        })
    }

    pub(crate) fn session(&self, id: &MplpId) -> ClarificationSession {
        self.sessions().find(|row| row.id == *id).expect("the session is there").clone()
    }

    /// Changes a row without going through an operation.
    pub(crate) fn overwrite(&mut self, session: ClarificationSession) {
        let put = Record::ClarificationSession(ClarificationSession { version: session.version + 1, ..session });
        let effects = Effects { puts: vec![put], ..Effects::default() };
        self.commit(Step { answer: (), effects });
    }

    pub(crate) fn entries(&self, id: &MplpId) -> Vec<ClarificationEntry> {
        let key = self.session(id).key;
        let rows = self.plane.store.rows().filter_map(|record| match record {
            Record::ClarificationEntry(row) if row.session == key => Some(row.clone()),
            _ => None,
        });
        let mut entries: Vec<ClarificationEntry> = rows.collect();
        entries.sort_by_key(|entry| entry.position);
        entries
    }

    pub(crate) fn record(&self, id: &MplpId) -> Value {
        serde_json::to_value(view::record(&self.session(id), &self.entries(id)).unwrap()).unwrap()
    }

    /// The chain as published.
    pub(crate) fn chain(&self, id: &MplpId) -> Vec<Value> {
        self.record(id)["chain"].as_array().unwrap().clone()
    }

    /// The last entry of the chain.
    pub(crate) fn last(&self, id: &MplpId) -> Value {
        self.chain(id).pop().expect("there is an entry")
    }

    pub(crate) fn audit(&self, id: &MplpId) -> Value {
        serde_json::to_value(view::audit(&self.session(id), &self.entries(id)).unwrap()).unwrap()
    }

    /// Verifies every document published for the session offline, with the published keys only.
    #[track_caller]
    pub(crate) fn prove(&self, id: &MplpId) {
        let registry = self.registry();
        check_record(&self.record(id), &registry).unwrap_or_else(|wrong| panic!("{wrong}"));
        check_message(&self.session(id).message, &registry).unwrap_or_else(|wrong| panic!("{wrong}"));
        check_audit(&self.audit(id), &registry).unwrap_or_else(|wrong| panic!("{wrong}"));
    }
}
