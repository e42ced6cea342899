//! A bounded set of names that evicts the oldest first.

use std::collections::{HashSet, VecDeque};

#[derive(Clone, Debug)]
pub(super) struct Recent {
    room: usize,
    order: VecDeque<String>,
    names: HashSet<String>,
}

impl Recent {
    pub(super) fn with_room_for(room: usize) -> Self {
        Self { room, order: VecDeque::new(), names: HashSet::new() }
    }

    /// Remembers the name, and returns whether it is new.
    pub(super) fn is_new(&mut self, name: &str) -> bool {
        if !self.names.insert(name.to_owned()) {
            return false;
        }
        self.order.push_back(name.to_owned());
        if self.order.len() > self.room
            && let Some(oldest) = self.order.pop_front()
        {
            self.names.remove(&oldest);
        }
        true
    }

    /// Forgets the name, and returns whether it was remembered.
    pub(super) fn forget(&mut self, name: &str) -> bool {
        let known = self.names.remove(name);
        if known {
            self.order.retain(|other| other != name);
        }
        known
    }
}
