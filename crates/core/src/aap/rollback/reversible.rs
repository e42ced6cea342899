//! Writes on routes with a cancel endpoint: remembered from their intent on, with the request that would undo them.

use crate::{
    aap::access::WriteResult,
    env::Mint,
    records::{CancelCall, Record, ReversibleState, ReversibleWrite, Table},
    step::{Effects, Guard},
};
use countersign_protocol::{ids::RowKey, time::UnixMillis};

/// How long a write can be undone.
const KEPT_S: i64 = 30 * 86_400;

impl ReversibleWrite {
    pub fn new(
        (project, session): (RowKey, RowKey),
        (call_id, action): (&str, &str),
        cancel: &CancelCall,
        now: UnixMillis,
        mint: &mut Mint,
    ) -> Self {
        Self {
            key: mint.key(),
            version: 1,
            project,
            session,
            call_id: call_id.to_owned(),
            action: action.to_owned(),
            cancel: cancel.clone(),
            started_at: now,
            until: now.plus_secs(KEPT_S),
            state: ReversibleState::InFlight,
        }
    }

    /// Its outcome, and the sealed path of its request once the response has completed it. A write without an effect
    /// needs no row.
    pub fn settle(&self, result: WriteResult, sealed: Option<String>) -> Effects {
        let state = match result {
            WriteResult::DidNotRun => {
                let guards = vec![Guard { table: Table::ReversibleWrite, key: self.key, version: self.version }];
                return Effects { guards, removes: vec![(Table::ReversibleWrite, self.key)], ..Effects::default() };
            }
            WriteResult::Ran => ReversibleState::Committed,
            WriteResult::Unknown => ReversibleState::Unknown,
        };
        let cancel = CancelCall { sealed: sealed.or_else(|| self.cancel.sealed.clone()), ..self.cancel.clone() };
        let settled = Self { state, cancel, version: self.version + 1, ..self.clone() };
        Effects { puts: vec![Record::ReversibleWrite(settled)], ..Effects::default() }
    }
}
