//! The pending events of one subscription: shaped to its terms, each delivered once.
//!
//! While the reader is slow or absent, events are coalesced where possible.

use super::backlog::{Backlog, BacklogEvent};
use countersign_core::aaep::{
    negotiate::SubscriptionTerms,
    shape::Shaper,
    shared_event::{Form, SharedEvent},
};
use countersign_protocol::{ids::RowKey, time::UnixMillis};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// From this many unread events on, the reader counts as slow.
const SLOW: usize = 64;
/// Maximum number of pending events, coalesced or not, and their maximum text size.
pub(super) const MOST_UNREAD: usize = 1024;
const MOST_TEXT: usize = 1 << 20;

pub(super) struct Feed {
    shaper: Shaper,
    backlog: Backlog,
    /// Sessions with a summary instead of their earlier events: events below this sequence number are skipped.
    floors: BTreeMap<RowKey, i64>,
    /// Questions repeated for a reader that joined late: they are not delivered a second time.
    shown: Vec<Arc<SharedEvent>>,
    /// Events that arrive while the snapshot for a new reader is loaded.
    joining: Option<Vec<Arc<SharedEvent>>>,
    /// Maximum number of unread events; raised by the size of a large snapshot.
    room: usize,
}

/// The state of an open session, for a reader that joins late.
pub(crate) struct Joined {
    pub(crate) session: RowKey,
    /// The summary covers every event before this one; `None` if only a question is known.
    pub(crate) floor: Option<i64>,
    pub(crate) events: Vec<Arc<SharedEvent>>,
}

impl Feed {
    pub(super) fn new(terms: Arc<SubscriptionTerms>, now: UnixMillis) -> Self {
        Self {
            shaper: Shaper::new(terms, now),
            backlog: Backlog::default(),
            floors: BTreeMap::new(),
            shown: Vec::new(),
            joining: None,
            room: MOST_UNREAD,
        }
    }

    pub(super) fn terms(&self) -> &Arc<SubscriptionTerms> {
        self.shaper.terms()
    }

    pub(super) fn renegotiate(&mut self, terms: Arc<SubscriptionTerms>, now: UnixMillis) {
        if **self.shaper.terms() != *terms {
            self.shaper.renegotiate(terms, now);
        }
    }

    /// Takes the next event of its session.
    pub(super) fn push(&mut self, spoken: &Arc<SharedEvent>, is_read: bool, now: UnixMillis) {
        match &mut self.joining {
            Some(said_since) => said_since.push(Arc::clone(spoken)),
            None => self.accept(spoken, is_read, now),
        }
    }

    /// Resumes just after an event the reader already had. Otherwise new events are held until the snapshot is
    /// delivered.
    pub(super) fn resume_or_hold(&mut self, last_event_id: Option<&str>) -> bool {
        let resumes = last_event_id.is_some_and(|id| self.backlog.rewind(id));
        self.joining = (!resumes).then(Vec::new);
        resumes
    }

    /// The reader left before its snapshot was delivered: releases the held events.
    pub(super) fn release_held(&mut self, now: UnixMillis) {
        let said_since = self.joining.take().unwrap_or_default();
        said_since.iter().for_each(|spoken| self.accept(spoken, false, now));
    }

    /// Delivers the snapshot, then the events since the reader attached.
    pub(super) fn deliver_snapshot(&mut self, joined: Vec<Joined>, now: UnixMillis) {
        let said_since = self.joining.take().unwrap_or_default();
        self.shaper.pause(false);
        self.pull(now);
        let begun = said_since.iter().chain(self.backlog.unread_events()).filter(|spoken| spoken.seq == 0);
        let begun: BTreeSet<RowKey> = begun.map(|spoken| spoken.session).collect();
        self.shown.clear();
        self.room = MOST_UNREAD + joined.iter().map(|joined| joined.events.len()).sum::<usize>();
        // A reader gets every event of a session that has just begun, so it needs no summary.
        for joined in joined.into_iter().filter(|joined| !begun.contains(&joined.session)) {
            self.add_session(joined, now);
        }
        said_since.iter().for_each(|spoken| self.accept(spoken, true, now));
    }

    pub(super) fn next(&mut self, now: UnixMillis) -> Option<(Arc<SharedEvent>, Form)> {
        if self.backlog.unread() == 0 {
            self.shaper.pause(false);
            self.pull(now);
        }
        let BacklogEvent { spoken, is_counted } = self.backlog.read(now)?;
        Some((spoken, Form { sequence: is_counted, ..self.shaper.form().clone() }))
    }

    /// When the next event becomes due without a new one.
    pub(super) fn next_due(&self) -> Option<UnixMillis> {
        self.shaper.next_due()
    }

    pub(super) fn is_full(&self) -> bool {
        let joining = self.joining.as_ref().map_or(0, Vec::len);
        self.backlog.unread().max(self.shaper.held_events()).max(joining) > self.room
            || self.shaper.held_text() > MOST_TEXT
    }

    /// Drops every pending and remembered event.
    pub(super) fn clear(&mut self, now: UnixMillis) {
        *self = Self::new(Arc::clone(self.shaper.terms()), now);
    }

    fn accept(&mut self, spoken: &Arc<SharedEvent>, is_read: bool, now: UnixMillis) {
        if self.is_in_snapshot(spoken) {
            return;
        }
        if spoken.event.payload.is_terminal() {
            self.shown.retain(|shown| shown.session != spoken.session);
        }
        self.shaper.pause(!is_read || self.backlog.unread() >= SLOW);
        self.shape(spoken, now);
    }

    /// Whether the snapshot already covered this event.
    fn is_in_snapshot(&mut self, spoken: &SharedEvent) -> bool {
        if self.floors.get(&spoken.session).is_some_and(|floor| spoken.seq < *floor) {
            return true;
        }
        self.floors.remove(&spoken.session);
        if !spoken.is_critical() {
            return false;
        }
        let id = &spoken.event.envelope.event_id;
        let shown = self.shown.iter().position(|shown| shown.event.envelope.event_id == *id);
        shown.map(|place| self.shown.swap_remove(place)).is_some()
    }

    fn add_session(&mut self, joined: Joined, now: UnixMillis) {
        self.floors.extend(joined.floor.map(|floor| (joined.session, floor)));
        self.backlog.stop_counting(joined.session);
        for spoken in joined.events {
            let id = &spoken.event.envelope.event_id;
            if !self.backlog.unread_events().any(|waiting| waiting.event.envelope.event_id == *id) {
                self.shape(&spoken, now);
            }
            if spoken.is_critical() {
                self.shown.push(spoken);
            }
        }
    }

    fn shape(&mut self, spoken: &Arc<SharedEvent>, now: UnixMillis) {
        if self.shaper.sends_at_once(spoken, now) {
            return self.backlog.add(Arc::clone(spoken), self.shaper.form().sequence);
        }
        let mut out = Vec::new();
        self.shaper.push(spoken, now, &mut out);
        self.queue(out);
    }

    fn pull(&mut self, now: UnixMillis) {
        let mut out = Vec::new();
        self.shaper.pull(now, &mut out);
        self.queue(out);
    }

    fn queue(&mut self, out: Vec<Arc<SharedEvent>>) {
        let counts = self.shaper.form().sequence;
        out.into_iter().for_each(|spoken| self.backlog.add(spoken, counts));
    }
}

#[cfg(test)]
mod tests;
