//! Session locks: one step at a time in a session, on this node.
//!
//! Steps in one session change the same row. The row's version serialises them across nodes; steps of one node wait for
//! each other here, instead of deciding in vain.

use countersign_protocol::ids::RowKey;
use tokio::sync::{Mutex, MutexGuard};

const PLACES: usize = 1024;

/// A fixed number of locks: two sessions may share one, and memory does not grow.
pub(crate) struct SessionLocks(Vec<Mutex<()>>);

/// Held while a step in the session is in progress.
pub(crate) type SessionLockGuard<'a> = MutexGuard<'a, ()>;

impl Default for SessionLocks {
    fn default() -> Self {
        Self((0..PLACES).map(|_| Mutex::new(())).collect())
    }
}

impl SessionLocks {
    pub(crate) async fn lock(&self, session: RowKey) -> Option<SessionLockGuard<'_>> {
        // Row keys come in blocks, from a counter below the lane and the time.
        let mixed = session.unsigned_abs().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 54;
        Some(self.0.get(usize::try_from(mixed).ok()?)?.lock().await)
    }
}
