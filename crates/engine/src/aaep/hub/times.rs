//! How much time people need to answer, as their subscriptions said (AAEP 6.4.2). It holds for as long as the
//! subscription is open, also while nobody reads it.

use countersign_protocol::ids::RowKey;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Beyond so many people it is read again what they need.
const MOST_LOADED: usize = 100_000;

#[derive(Default)]
pub(super) struct Times {
    /// Seconds by subscription, by project and person. Most people need none.
    needed: HashMap<(RowKey, RowKey), BTreeMap<RowKey, i64>>,
    /// Whose subscriptions were read from the store; what is new comes as news.
    loaded: HashSet<(RowKey, RowKey)>,
}

impl Times {
    pub(super) fn note(&mut self, place: (RowKey, RowKey), subscription: RowKey, seconds: Option<i64>) {
        match seconds {
            Some(seconds) => {
                self.needed.entry(place).or_default().insert(subscription, seconds);
            }
            None => self.forget(place, subscription),
        }
    }

    pub(super) fn longest(&self, project: RowKey, people: &[RowKey]) -> Option<i64> {
        let of = |person: &RowKey| self.needed.get(&(project, *person))?.values().max().copied();
        people.iter().filter_map(of).max()
    }

    /// Whether this person's must be read: only the first one who asks does it.
    pub(super) fn begins_to_load(&mut self, place: (RowKey, RowKey)) -> bool {
        if self.loaded.len() >= MOST_LOADED {
            self.loaded.clear();
        }
        self.loaded.insert(place)
    }

    pub(super) fn failed_to_load(&mut self, place: (RowKey, RowKey)) {
        self.loaded.remove(&place);
    }

    fn forget(&mut self, place: (RowKey, RowKey), subscription: RowKey) {
        let Some(needed) = self.needed.get_mut(&place) else { return };
        needed.remove(&subscription);
        if needed.is_empty() {
            self.needed.remove(&place);
        }
    }
}
