//! The receipts that a session had before its current ones: what a person ended does not come back with an older one.

use super::{Receipt, Session};
use countersign_protocol::{hash::Digest, time::UnixMillis};
use serde::{Deserialize, Serialize};

/// A receipt that was replaced, or that ended with its task. Remembered while it would be valid by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlierReceipt {
    /// As in [`Receipt::said`].
    pub said: Digest,
    pub until: UnixMillis,
    /// Whether its task has ended. Otherwise a newer receipt replaced it in the same task.
    pub over: bool,
}

impl Session {
    /// The digests of all its receipts, earlier ones included.
    pub fn receipts_ever(&self) -> impl Iterator<Item = Digest> {
        self.receipts().map(|receipt| receipt.said).chain(self.earlier_receipts.iter().map(|earlier| earlier.said))
    }

    /// Whether a task of the session ended that this receipt was for.
    pub fn is_receipt_over(&self, receipt: &Receipt) -> bool {
        self.earlier_receipts.iter().any(|earlier| earlier.over && earlier.said == receipt.said)
    }

    /// The session with the receipts that it had `before`. `over`: its task has ended, and another begins.
    #[must_use]
    pub fn remember_receipts(
        mut self,
        before: &Self,
        over: bool,
        ends_at: fn(&Receipt) -> UnixMillis,
        now: UnixMillis,
    ) -> Self {
        let replaced =
            before.receipts().map(|receipt| EarlierReceipt { said: receipt.said, until: ends_at(receipt), over });
        let known = before
            .earlier_receipts
            .iter()
            .map(|earlier| EarlierReceipt { over: earlier.over || over, ..earlier.clone() });
        let current: Vec<Digest> = self.receipts().map(|receipt| receipt.said).collect();
        self.earlier_receipts =
            known.chain(replaced).filter(|earlier| now <= earlier.until && !current.contains(&earlier.said)).collect();
        self
    }
}
