//! The terms of subscriptions, worked out once a row, and one copy of those that are the same: many subscribers ask for the
//! same, and an event that goes to all of them then meets the terms in the processor's cache.

use countersign_core::aaep::negotiate::SubscriptionTerms;
use countersign_protocol::ids::RowKey;
use quick_cache::sync::Cache;
use std::sync::{Arc, Mutex, PoisonError};

const ROWS: usize = 20_000;
const DIFFERENT: usize = 16;

pub(crate) struct KnownTerms {
    /// By subscription, its version, and the version of its project.
    rows: Cache<(RowKey, i64, i64), Arc<SubscriptionTerms>>,
    different: Mutex<Vec<Arc<SubscriptionTerms>>>,
}

impl Default for KnownTerms {
    fn default() -> Self {
        Self { rows: Cache::new(ROWS), different: Mutex::default() }
    }
}

impl KnownTerms {
    pub(crate) fn of_row(&self, row: (RowKey, i64, i64)) -> Option<Arc<SubscriptionTerms>> {
        self.rows.get(&row)
    }

    pub(crate) fn insert(&self, row: (RowKey, i64, i64), terms: &Arc<SubscriptionTerms>) {
        self.rows.insert(row, Arc::clone(terms));
    }

    /// The copy of these terms that others share.
    pub(crate) fn shared(&self, terms: SubscriptionTerms) -> Arc<SubscriptionTerms> {
        let mut different = self.different.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(same) = different.iter().find(|known| ***known == terms) {
            return Arc::clone(same);
        }
        if different.len() >= DIFFERENT {
            different.remove(0);
        }
        let terms = Arc::new(terms);
        different.push(Arc::clone(&terms));
        terms
    }
}
