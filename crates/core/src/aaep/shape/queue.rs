//! Held events of one session, in sending order.
//!
//! A folded event takes the position of its last part, so positions only grow from front to back.

use super::fold::FoldedEvent;
use crate::aaep::shared_event::SharedEvent;
use countersign_protocol::{
    aaep::event::{Boundary, Payload},
    time::UnixMillis,
};
use std::{collections::VecDeque, sync::Arc};

/// How long progress, or another text, waits behind an unfinished phrase before cutting it.
const PATIENCE_MS: i64 = 2000;
const NEVER: UnixMillis = UnixMillis(i64::MAX);

#[derive(Debug, Default)]
pub(super) struct Queue {
    held: VecDeque<FoldedEvent>,
}

impl Queue {
    /// Takes the next event of the session, folded into a held event of its kind if no content is lost.
    pub(super) fn put(&mut self, spoken: Arc<SharedEvent>, finest: Boundary, now: UnixMillis) {
        let is_open = is_open(&spoken, finest);
        let next = FoldedEvent::new(spoken, if is_open { NEVER } else { now }, is_open);
        self.end_phrases_for(&next, now);
        let next = self.fold_into_last_of_its_kind(next, now);
        self.held.push_back(next);
        self.join_earlier(self.held.len() - 1);
    }

    /// Ends every phrase: no more text will come, or the next event must not overtake it.
    pub(super) fn end_phrases(&mut self, now: UnixMillis) {
        while let Some(place) = self.held.iter().position(|held| held.is_open) {
            self.held.get_mut(place).into_iter().for_each(|held| held.end_phrase(now));
            self.join_earlier(place);
        }
    }

    pub(super) fn front(&self) -> Option<&FoldedEvent> {
        self.held.front()
    }

    /// Removes the first event for sending.
    pub(super) fn pop(&mut self, now: UnixMillis, before: Option<UnixMillis>) -> Option<Arc<SharedEvent>> {
        let first = self.held.pop_front()?;
        let next = self.held.front().map(FoldedEvent::stamped);
        Some(first.release(now, next.or(before)))
    }

    /// Applies new terms: drops filtered events and releases text that no longer needs to be held.
    pub(super) fn rejudge(&mut self, passes: impl Fn(&Payload) -> bool, finest: Boundary, now: UnixMillis) {
        self.held.retain(|held| passes(held.payload()));
        let ended = self.held.iter_mut().filter(|held| held.is_open && !is_open(&held.last, finest));
        ended.for_each(|held| held.end_phrase(now));
    }

    pub(super) fn len(&self) -> usize {
        self.held.len()
    }

    pub(super) fn text_len(&self) -> usize {
        self.held.iter().map(FoldedEvent::text_len).sum()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Nothing overtakes a phrase, and nothing waits long for its end: an event showing that the agent moved on cuts it
    /// at once, progress and other texts cut it after a delay. A continued phrase moves behind those by itself.
    fn end_phrases_for(&mut self, next: &FoldedEvent, now: UnixMillis) {
        match next.payload() {
            _ if next.is_open => {}
            Payload::ProgressUpdated(_) | Payload::OutputStreaming(_) => {
                let others = self.held.iter_mut().filter(|held| held.is_open && !held.is_of_one_kind_with(&next.last));
                others.for_each(|held| held.due = held.due.min(now.plus_millis(PATIENCE_MS)));
            }
            _ => self.end_phrases(now),
        }
    }

    /// The last event of its kind with the next one folded in, removed from the queue; or only the next one.
    fn fold_into_last_of_its_kind(&mut self, next: FoldedEvent, now: UnixMillis) -> FoldedEvent {
        let Some(place) = self.held.iter().rposition(|held| held.is_of_one_kind_with(&next.last)) else { return next };
        let Some(last) = self.held.get_mut(place) else { return next };
        if !last.can_fold(&next) {
            // No further text will be appended to it.
            last.end_phrase(now);
            return next;
        }
        // A finished phrase does not wait for the end of the next one.
        if next.is_open && !last.is_open {
            return next;
        }
        let Some(mut last) = self.held.remove(place) else { return next };
        last.fold(next);
        last
    }

    /// Folds a finished text into earlier finished text of the same output, at the later position.
    fn join_earlier(&mut self, place: usize) {
        let Some(this) = self.held.get(place).filter(|this| !this.is_open) else { return };
        let earlier = self.held.iter().take(place).rposition(|held| held.is_of_one_kind_with(&this.last));
        let fits = |earlier: &usize| self.held.get(*earlier).is_some_and(|held| held.can_fold(this));
        let Some(earlier) = earlier.filter(fits).and_then(|earlier| self.held.remove(earlier)) else { return };
        if let Some(this) = self.held.get_mut(place - 1) {
            let later = std::mem::replace(this, earlier);
            this.fold(later);
        }
    }
}

/// Whether text is held for more: it names its boundary, and that is finer than the subscriber wants.
pub(super) fn is_open(spoken: &SharedEvent, finest: Boundary) -> bool {
    match &spoken.event.payload {
        Payload::OutputStreaming(output) if !output.complete => {
            matches!(output.coalesce_hint, Some(hint) if hint != Boundary::None && hint < finest)
        }
        _ => false,
    }
}
