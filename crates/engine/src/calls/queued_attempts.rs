//! The attempts at held calls that this node makes now. The row's lease keeps other nodes from the same call; the caps keep a
//! slow upstream from occupying the node, and one project from occupying the attempts of the others.

use countersign_protocol::ids::RowKey;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

const AT_A_TIME: usize = 256;
const OF_A_PROJECT: usize = 32;

/// The project of each allowance.
#[derive(Clone, Default)]
pub(crate) struct QueuedAttempts(Arc<Mutex<HashMap<RowKey, RowKey>>>);

/// Until it is dropped, the attempt counts.
pub(super) struct QueuedAttempt {
    attempts: QueuedAttempts,
    allowance: RowKey,
}

impl QueuedAttempts {
    /// None while the same call is attempted, or the caps leave no room.
    pub(super) fn begin(&self, allowance: RowKey, project: RowKey) -> Option<QueuedAttempt> {
        let mut current = self.current();
        let of_project = current.values().filter(|other| **other == project).count();
        if current.contains_key(&allowance) || current.len() >= AT_A_TIME || of_project >= OF_A_PROJECT {
            return None;
        }
        current.insert(allowance, project);
        Some(QueuedAttempt { attempts: self.clone(), allowance })
    }

    fn current(&self) -> MutexGuard<'_, HashMap<RowKey, RowKey>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for QueuedAttempt {
    fn drop(&mut self) {
        self.attempts.current().remove(&self.allowance);
    }
}
