//! Shapes the stream of one subscription to its terms (AAEP 5.6): filters events, limits their rate, folds instead of
//! dropping, keeps the order within a session, and never delays a critical event.

mod bucket;
mod fold;
mod queue;

use super::{
    negotiate::SubscriptionTerms,
    shared_event::{Form, SharedEvent},
};
use bucket::Bucket;
use countersign_protocol::{aaep::event::Payload, ids::RowKey, time::UnixMillis};
use queue::Queue;
use std::{collections::BTreeMap, sync::Arc};

/// The least time between state or progress events under low cognitive load.
const CALM_MS: i64 = 2000;

/// One per subscription; small while no events are held.
#[derive(Debug)]
pub struct Shaper {
    terms: Arc<SubscriptionTerms>,
    /// A stream that once had gaps never gets sequence numbers again, even under new terms (C14).
    form: Form,
    bucket: Option<Bucket>,
    /// Only sessions with held events.
    waiting: BTreeMap<RowKey, Queue>,
    /// Under low cognitive load: no state or progress event is sent before this time.
    calm_until: UnixMillis,
    /// While the reader is slow or away: only critical events are sent, with the earlier events of their session.
    is_paused: bool,
}

impl Shaper {
    pub fn new(terms: Arc<SubscriptionTerms>, now: UnixMillis) -> Self {
        Self {
            form: terms.form.clone(),
            bucket: terms.rate.map(|rate| Bucket::new(rate, now)),
            waiting: BTreeMap::new(),
            calm_until: UnixMillis(i64::MIN),
            is_paused: false,
            terms,
        }
    }

    /// Applies new terms to everything sent from now on, including held events (AAEP 5.7). Call `next_due` again.
    pub fn renegotiate(&mut self, terms: Arc<SubscriptionTerms>, now: UnixMillis) {
        self.form = Form { sequence: self.form.sequence && terms.form.sequence, ..terms.form.clone() };
        self.bucket = terms.rate.map(|rate| match self.bucket {
            Some(bucket) => bucket.at_rate(rate, now),
            None => Bucket::new(rate, now),
        });
        for queue in self.waiting.values_mut() {
            queue.rejudge(|payload| terms.filter.passes(payload.type_name()), terms.finest, now);
        }
        self.waiting.retain(|_, queue| !queue.is_empty());
        self.terms = terms;
    }

    /// Pauses or resumes sending. While paused, non-critical events are held and folded; after resuming, the next
    /// `pull` sends them.
    pub const fn pause(&mut self, is_paused: bool) {
        self.is_paused = is_paused;
    }

    /// Whether the next event of its session is sent now, as it is and alone: then it is counted as sent, and must not be
    /// pushed. Mostly so, and cheaper than a list.
    pub fn sends_at_once(&mut self, spoken: &SharedEvent, now: UnixMillis) -> bool {
        if spoken.is_critical() {
            return !self.waiting.contains_key(&spoken.session);
        }
        let passes = self.terms.filter.passes(spoken.event.payload.type_name()) && self.bypasses_queue(spoken, now);
        if passes {
            self.charge(&spoken.event.payload, now);
        }
        passes
    }

    /// Takes the next event of its session; appends everything that can be sent at once to `out`.
    ///
    /// Events of one session arrive in order. Folded events are stamped with `now`, so `now` must not be ahead of the
    /// timestamps of later events.
    pub fn push(&mut self, spoken: &Arc<SharedEvent>, now: UnixMillis, out: &mut Vec<Arc<SharedEvent>>) {
        let passes = self.terms.filter.passes(spoken.event.payload.type_name());
        if spoken.is_critical() {
            self.push_critical(spoken, now, out);
        } else if passes && self.bypasses_queue(spoken, now) {
            self.emit(Arc::clone(spoken), now, out);
        } else if passes {
            self.hold(spoken, now, out);
        } else if spoken.event.payload.is_terminal() {
            // A filtered terminal event still ends the held text of its session.
            self.end_session(spoken.session, now, out);
        }
    }

    /// Appends the events that are due.
    pub fn pull(&mut self, now: UnixMillis, out: &mut Vec<Arc<SharedEvent>>) {
        while self.has_budget(now)
            && let Some((_, session)) = self.first_due().filter(|(due, _)| *due <= now)
        {
            self.release(session, now, None, out);
        }
    }

    /// When to call `pull` again; none if that depends on the next `push`.
    pub fn next_due(&self) -> Option<UnixMillis> {
        if self.is_paused {
            return None;
        }
        let (due, _) = self.first_due().filter(|(due, _)| due.0 != i64::MAX)?;
        Some(self.bucket.map_or(due, |bucket| bucket.ready_at().max(due)))
    }

    /// The number of held events, after folding.
    pub fn held_events(&self) -> usize {
        self.waiting.values().map(Queue::len).sum()
    }

    /// The bytes of held streamed text.
    pub fn held_text(&self) -> usize {
        self.waiting.values().map(Queue::text_len).sum()
    }

    pub const fn form(&self) -> &Form {
        &self.form
    }

    pub const fn terms(&self) -> &Arc<SubscriptionTerms> {
        &self.terms
    }

    /// Bypasses filter and rate, but not the earlier events of its own session (C12).
    fn push_critical(&mut self, spoken: &Arc<SharedEvent>, now: UnixMillis, out: &mut Vec<Arc<SharedEvent>>) {
        let before = Some(spoken.event.envelope.timestamp);
        if let Some(queue) = self.waiting.get_mut(&spoken.session) {
            queue.end_phrases(now);
        }
        while self.release(spoken.session, now, before, out) {}
        out.push(Arc::clone(spoken));
    }

    /// Whether the event can bypass the queue.
    fn bypasses_queue(&mut self, spoken: &SharedEvent, now: UnixMillis) -> bool {
        let nothing_before_it =
            self.waiting.is_empty() || (self.bucket.is_none() && !self.waiting.contains_key(&spoken.session));
        nothing_before_it
            && !queue::is_open(spoken, self.terms.finest)
            && self.due(&spoken.event.payload, now) <= now
            && self.has_budget(now)
    }

    fn hold(&mut self, spoken: &Arc<SharedEvent>, now: UnixMillis, out: &mut Vec<Arc<SharedEvent>>) {
        self.waiting.entry(spoken.session).or_default().put(Arc::clone(spoken), self.terms.finest, now);
        self.release_due(spoken.session, now, out);
    }

    fn end_session(&mut self, session: RowKey, now: UnixMillis, out: &mut Vec<Arc<SharedEvent>>) {
        if let Some(queue) = self.waiting.get_mut(&session) {
            queue.end_phrases(now);
            self.release_due(session, now, out);
        }
    }

    /// Without a rate limit only this session can be due; with one, the oldest event of all sessions goes first.
    fn release_due(&mut self, session: RowKey, now: UnixMillis, out: &mut Vec<Arc<SharedEvent>>) {
        if self.bucket.is_some() {
            return self.pull(now, out);
        }
        while !self.is_paused
            && self.waiting.get(&session).and_then(|queue| self.due_of(queue)).is_some_and(|due| due <= now)
        {
            self.release(session, now, None, out);
        }
    }

    fn release(
        &mut self,
        session: RowKey,
        now: UnixMillis,
        before: Option<UnixMillis>,
        out: &mut Vec<Arc<SharedEvent>>,
    ) -> bool {
        let Some(queue) = self.waiting.get_mut(&session) else { return false };
        let released = queue.pop(now, before);
        if queue.is_empty() {
            self.waiting.remove(&session);
        }
        let Some(spoken) = released else { return false };
        self.emit(spoken, now, out);
        true
    }

    fn emit(&mut self, spoken: Arc<SharedEvent>, now: UnixMillis, out: &mut Vec<Arc<SharedEvent>>) {
        self.charge(&spoken.event.payload, now);
        out.push(spoken);
    }

    fn charge(&mut self, payload: &Payload, now: UnixMillis) {
        if let Some(bucket) = &mut self.bucket {
            bucket.charge(now);
        }
        if self.terms.is_calm && is_rate_limited(payload) {
            self.calm_until = now.plus_millis(CALM_MS);
        }
    }

    fn has_budget(&mut self, now: UnixMillis) -> bool {
        !self.is_paused && self.bucket.as_mut().is_none_or(|bucket| bucket.has_token(now))
    }

    fn first_due(&self) -> Option<(UnixMillis, RowKey)> {
        self.waiting.iter().filter_map(|(session, queue)| Some((self.due_of(queue)?, *session))).min()
    }

    fn due_of(&self, queue: &Queue) -> Option<UnixMillis> {
        queue.front().map(|first| self.due(first.payload(), first.due))
    }

    fn due(&self, payload: &Payload, due: UnixMillis) -> UnixMillis {
        if self.terms.is_calm && is_rate_limited(payload) { due.max(self.calm_until) } else { due }
    }
}

const fn is_rate_limited(payload: &Payload) -> bool {
    matches!(payload, Payload::StateChanged(_) | Payload::ProgressUpdated(_))
}

#[cfg(test)]
pub(crate) mod tests;
