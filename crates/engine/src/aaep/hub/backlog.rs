//! Unread events of a reader, and its recent ones for resuming (S5).

use countersign_core::aaep::shared_event::SharedEvent;
use countersign_protocol::{ids::RowKey, time::UnixMillis};
use std::{collections::VecDeque, sync::Arc};

/// Maximum number of missed events after which a reader can still resume.
const REMEMBERED: usize = 512;
/// Maximum age of those events.
const REMEMBERED_MS: i64 = 600_000;

#[derive(Default)]
pub(super) struct Backlog {
    unread: VecDeque<BacklogEvent>,
    read: VecDeque<BacklogEvent>,
    /// The next sequence number of each session received from its beginning and without a gap, in the order of sessions.
    counted: Vec<(RowKey, i64)>,
}

#[derive(Clone)]
pub(super) struct BacklogEvent {
    pub(super) spoken: Arc<SharedEvent>,
    pub(super) is_counted: bool,
}

impl Backlog {
    pub(super) fn add(&mut self, spoken: Arc<SharedEvent>, counts: bool) {
        let is_counted = counts && self.is_next(&spoken);
        self.unread.push_back(BacklogEvent { spoken, is_counted });
    }

    pub(super) fn unread(&self) -> usize {
        self.unread.len()
    }

    pub(super) fn unread_events(&self) -> impl Iterator<Item = &Arc<SharedEvent>> {
        self.unread.iter().map(|sent| &sent.spoken)
    }

    pub(super) fn read(&mut self, now: UnixMillis) -> Option<BacklogEvent> {
        let sent = self.unread.pop_front()?;
        let is_old = |sent: &BacklogEvent| now.millis_since(sent.spoken.event.envelope.timestamp) > REMEMBERED_MS;
        while self.read.len() >= REMEMBERED || self.read.front().is_some_and(is_old) {
            self.read.pop_front();
        }
        self.read.push_back(sent.clone());
        Some(sent)
    }

    /// Rewinds to just after an event; false if it is no longer kept.
    pub(super) fn rewind(&mut self, event_id: &str) -> bool {
        let known = self.read.iter().rposition(|sent| sent.spoken.event.envelope.event_id == event_id);
        let Some(place) = known else { return false };
        for sent in self.read.split_off(place + 1).into_iter().rev() {
            self.unread.push_front(sent);
        }
        true
    }

    pub(super) fn stop_counting(&mut self, session: RowKey) {
        if let Ok(place) = self.counted_place(session) {
            self.counted.remove(place);
        }
    }

    fn counted_place(&self, session: RowKey) -> Result<usize, usize> {
        self.counted.binary_search_by_key(&session, |(session, _)| *session)
    }

    /// Sequence numbers are sent only for a session received from its beginning, and only up to the first gap (C14).
    fn is_next(&mut self, spoken: &SharedEvent) -> bool {
        let place = self.counted_place(spoken.session);
        let next = place.ok().and_then(|place| self.counted.get(place)).map(|(_, next)| *next);
        let is_next = spoken.seq == 0 || next == Some(spoken.seq);
        let goes_on = is_next && !spoken.event.payload.is_terminal();
        match (place, goes_on) {
            (Ok(place), true) => {
                self.counted.iter_mut().skip(place).take(1).for_each(|(_, next)| *next = spoken.seq + 1)
            }
            (Err(place), true) => self.counted.insert(place, (spoken.session, spoken.seq + 1)),
            (Ok(place), false) => drop(self.counted.remove(place)),
            (Err(_), false) => {}
        }
        is_next
    }
}
