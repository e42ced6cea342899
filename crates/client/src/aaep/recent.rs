//! A memory of names with an end: the oldest is forgotten first.

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

    /// Whether the name is new; it is remembered either way.
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

    /// Whether the name was remembered; it no longer is.
    pub(super) fn forget(&mut self, name: &str) -> bool {
        let known = self.names.remove(name);
        if known {
            self.order.retain(|other| other != name);
        }
        known
    }
}
