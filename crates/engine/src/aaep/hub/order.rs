//! Restores the order of events that several nodes added to one session.
//!
//! The store signals in order as far as it can; this handles the rest. An early event waits for the missing ones, but
//! not for long: a subscriber with a gap is better off than one without events.

use countersign_core::signals::AaepSignal;
use countersign_protocol::{ids::RowKey, time::UnixMillis};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// How long a gap is waited for.
const PATIENCE_MS: i64 = 2000;
/// Maximum number of events of one session that wait for a gap.
const MOST_HELD: usize = 256;
/// A session without events for this long is dropped.
const FORGOTTEN_MS: i64 = 3_600_000;
/// A session that ended is kept a moment longer, to recognise duplicate signals.
const OVER_MS: i64 = 10_000;

#[derive(Default)]
pub(super) struct Order {
    lines: HashMap<RowKey, SessionOrder>,
    /// Sessions with a gap.
    stuck: BTreeSet<RowKey>,
    tidied_at: UnixMillis,
}

struct SessionOrder {
    next: i64,
    held: BTreeMap<i64, Box<AaepSignal>>,
    stuck_since: UnixMillis,
    heard_at: UnixMillis,
    is_over: bool,
}

impl Order {
    /// Takes one event and delivers every event that is now in order. Duplicates are dropped.
    pub(super) fn accept(&mut self, said: &AaepSignal, now: UnixMillis, tell: &mut impl FnMut(&AaepSignal)) {
        let line = self.lines.entry(said.session).or_insert_with(|| SessionOrder::starting_at(said.seq, now));
        line.heard_at = now;
        if said.seq < line.next {
            return;
        }
        if said.seq == line.next {
            line.deliver(said, tell);
            line.deliver_held(tell);
        } else {
            line.hold(said, now);
        }
        if line.held.len() > MOST_HELD {
            line.skip_gap(said.session, tell);
        }
        match line.held.is_empty() {
            true => self.stuck.remove(&said.session),
            false => self.stuck.insert(said.session),
        };
    }

    /// Skips gaps that were not filled in time, and drops old sessions.
    pub(super) fn tick(&mut self, now: UnixMillis, tell: &mut impl FnMut(&AaepSignal)) {
        for session in self.stuck.clone() {
            let Some(line) = self.lines.get_mut(&session) else { continue };
            if now.millis_since(line.stuck_since) >= PATIENCE_MS {
                line.skip_gap(session, tell);
                line.stuck_since = now;
            }
            if line.held.is_empty() {
                self.stuck.remove(&session);
            }
        }
        if now.millis_since(self.tidied_at) >= OVER_MS {
            self.tidied_at = now;
            self.lines.retain(|_, line| !line.held.is_empty() || now.millis_since(line.heard_at) < line.retention_ms());
        }
    }

    #[cfg(test)]
    pub(super) fn sessions(&self) -> usize {
        self.lines.len()
    }
}

impl SessionOrder {
    /// Events from before this node subscribed are not a gap.
    fn starting_at(next: i64, now: UnixMillis) -> Self {
        Self { next, held: BTreeMap::new(), stuck_since: now, heard_at: now, is_over: false }
    }

    fn hold(&mut self, said: &AaepSignal, now: UnixMillis) {
        if self.held.is_empty() {
            self.stuck_since = now;
        }
        self.held.entry(said.seq).or_insert_with(|| Box::new(said.clone()));
    }

    fn deliver(&mut self, said: &AaepSignal, tell: &mut impl FnMut(&AaepSignal)) {
        self.next = said.seq + 1;
        self.is_over |= said.event.payload.is_terminal();
        tell(said);
    }

    fn deliver_held(&mut self, tell: &mut impl FnMut(&AaepSignal)) {
        while let Some(said) = self.held.remove(&self.next) {
            self.deliver(&said, tell);
        }
    }

    fn skip_gap(&mut self, session: RowKey, tell: &mut impl FnMut(&AaepSignal)) {
        let Some(first) = self.held.keys().next().copied() else { return };
        tracing::warn!(session, missing = self.next, going_on_with = first, "events of a session are missing");
        self.next = first;
        self.deliver_held(tell);
    }

    fn retention_ms(&self) -> i64 {
        if self.is_over { OVER_MS } else { FORGOTTEN_MS }
    }
}

#[cfg(test)]
mod tests;
