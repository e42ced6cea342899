//! Time extensions that people need to answer, from their subscriptions (AAEP 6.4.2). An extension applies as long as
//! the subscription is open, with or without a reader.

use countersign_protocol::ids::RowKey;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Above this many people, all extensions are loaded again.
const MOST_LOADED: usize = 100_000;

#[derive(Default)]
pub(super) struct Times {
    /// Seconds by subscription, by project and person. Most people need none.
    needed: HashMap<(RowKey, RowKey), BTreeMap<RowKey, i64>>,
    /// People whose subscriptions were loaded from the store; later changes arrive as signals.
    loaded: HashSet<(RowKey, RowKey)>,
}

impl Times {
    pub(super) fn set(&mut self, place: (RowKey, RowKey), subscription: RowKey, seconds: Option<i64>) {
        match seconds {
            Some(seconds) => {
                self.needed.entry(place).or_default().insert(subscription, seconds);
            }
            None => self.remove(place, subscription),
        }
    }

    pub(super) fn longest(&self, project: RowKey, people: &[RowKey]) -> Option<i64> {
        let of = |person: &RowKey| self.needed.get(&(project, *person))?.values().max().copied();
        people.iter().filter_map(of).max()
    }

    /// Whether this person's extensions must be loaded: only the first caller does it.
    pub(super) fn begin_loading(&mut self, place: (RowKey, RowKey)) -> bool {
        if self.loaded.len() >= MOST_LOADED {
            self.loaded.clear();
        }
        self.loaded.insert(place)
    }

    pub(super) fn loading_failed(&mut self, place: (RowKey, RowKey)) {
        self.loaded.remove(&place);
    }

    fn remove(&mut self, place: (RowKey, RowKey), subscription: RowKey) {
        let Some(needed) = self.needed.get_mut(&place) else { return };
        needed.remove(&subscription);
        if needed.is_empty() {
            self.needed.remove(&place);
        }
    }
}
