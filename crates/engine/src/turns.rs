//! One at a time in a session, on this node.
//!
//! Steps that speak in one session change the same row. Those of other nodes are told apart by the row's version; those
//! of this node wait for each other here, instead of deciding for nothing.

use countersign_protocol::ids::RowKey;
use tokio::sync::{Mutex, MutexGuard};

const PLACES: usize = 1024;

/// A fixed number of places: two sessions now and then share one, and nothing grows.
pub(crate) struct Turns(Vec<Mutex<()>>);

/// Held as long as a step in the session is under way.
pub(crate) type Turn<'a> = MutexGuard<'a, ()>;

impl Default for Turns {
    fn default() -> Self {
        Self((0..PLACES).map(|_| Mutex::new(())).collect())
    }
}

impl Turns {
    pub(crate) async fn take(&self, session: RowKey) -> Option<Turn<'_>> {
        // Keys are given out in blocks, from a counter below the lane and the time.
        let mixed = session.unsigned_abs().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 54;
        Some(self.0.get(usize::try_from(mixed).ok()?)?.lock().await)
    }
}
