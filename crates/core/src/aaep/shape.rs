//! Shapes the stream of one subscription so that its terms are kept (AAEP 5.6): filtered, held to its rate, folded
//! rather than lost, in order within a session, and never in the way of what is critical.

mod bucket;
mod fold;
mod queue;

use super::{
    negotiate::Terms,
    spoken::{Form, Spoken},
};
use bucket::Bucket;
use countersign_protocol::{aaep::event::Payload, ids::RowKey, time::UnixMillis};
use queue::Queue;
use std::{collections::BTreeMap, sync::Arc};

/// Whoever wants little at a time gets a state or progress no more often than this.
const CALM_MS: i64 = 2000;

/// One a subscription. While nothing waits it is a few words.
#[derive(Debug)]
pub struct Shaper {
    terms: Arc<Terms>,
    /// Once a stream had holes it is not counted again, whatever its terms become (C14).
    form: Form,
    bucket: Option<Bucket>,
    /// Only sessions of which something waits.
    waiting: BTreeMap<RowKey, Queue>,
    /// Until when no state or progress leaves, for whoever wants little at a time.
    calm_until: UnixMillis,
    /// While nobody reads: only what is critical leaves, and what came before it in its session.
    is_paused: bool,
}

impl Shaper {
    pub fn new(terms: Arc<Terms>, now: UnixMillis) -> Self {
        Self {
            form: terms.form.clone(),
            bucket: terms.rate.map(|rate| Bucket::new(rate, now)),
            waiting: BTreeMap::new(),
            calm_until: UnixMillis(i64::MIN),
            is_paused: false,
            terms,
        }
    }

    /// New terms bind everything that leaves after this, also what was waiting already (AAEP 5.7). Ask `next_due` again.
    pub fn renegotiate(&mut self, terms: Arc<Terms>, now: UnixMillis) {
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

    /// Holds everything back that can wait, so that it is folded while its reader is slow or away; or no longer. What
    /// could leave then is for the next `pull`.
    pub const fn pause(&mut self, is_paused: bool) {
        self.is_paused = is_paused;
    }

    /// Takes the next event of its session; whatever may leave at once is appended to `out`.
    ///
    /// Events of one session come in their order. What is folded is stamped with `now`, so `now` must not be ahead of
    /// the timestamps of events that are still to come.
    pub fn push(&mut self, spoken: &Arc<Spoken>, now: UnixMillis, out: &mut Vec<Arc<Spoken>>) {
        let passes = self.terms.filter.passes(spoken.event.payload.type_name());
        if spoken.is_critical() {
            self.push_critical(spoken, now, out);
        } else if passes && self.is_free(spoken, now) {
            self.leave(Arc::clone(spoken), now, out);
        } else if passes {
            self.hold(spoken, now, out);
        } else if spoken.event.payload.is_terminal() {
            // It is not shown, but it ends what is.
            self.end_session(spoken.session, now, out);
        }
    }

    /// Appends what may leave by now.
    pub fn pull(&mut self, now: UnixMillis, out: &mut Vec<Arc<Spoken>>) {
        while self.has_budget(now)
            && let Some((_, session)) = self.first_due().filter(|(due, _)| *due <= now)
        {
            self.release(session, now, None, out);
        }
    }

    /// When `pull` has something again; nothing if that depends on what is pushed.
    pub fn next_due(&self) -> Option<UnixMillis> {
        if self.is_paused {
            return None;
        }
        let (due, _) = self.first_due().filter(|(due, _)| due.0 != i64::MAX)?;
        Some(self.bucket.map_or(due, |bucket| bucket.ready_at().max(due)))
    }

    /// How many events wait, folded.
    pub fn held(&self) -> usize {
        self.waiting.values().map(Queue::len).sum()
    }

    /// How many bytes of streamed text wait.
    pub fn held_text(&self) -> usize {
        self.waiting.values().map(Queue::text_len).sum()
    }

    pub const fn form(&self) -> &Form {
        &self.form
    }

    pub const fn terms(&self) -> &Arc<Terms> {
        &self.terms
    }

    /// Past filter and rate, but not past what its own session said before it (C12).
    fn push_critical(&mut self, spoken: &Arc<Spoken>, now: UnixMillis, out: &mut Vec<Arc<Spoken>>) {
        let before = Some(spoken.event.envelope.timestamp);
        if let Some(queue) = self.waiting.get_mut(&spoken.session) {
            queue.end_phrases(now);
        }
        while self.release(spoken.session, now, before, out) {}
        out.push(Arc::clone(spoken));
    }

    /// Whether nothing stands in its way, so that it need not be looked at twice.
    fn is_free(&mut self, spoken: &Spoken, now: UnixMillis) -> bool {
        let nothing_before_it =
            self.waiting.is_empty() || (self.bucket.is_none() && !self.waiting.contains_key(&spoken.session));
        nothing_before_it
            && !queue::is_open(spoken, self.terms.finest)
            && self.due(&spoken.event.payload, now) <= now
            && self.has_budget(now)
    }

    fn hold(&mut self, spoken: &Arc<Spoken>, now: UnixMillis, out: &mut Vec<Arc<Spoken>>) {
        self.waiting.entry(spoken.session).or_default().put(Arc::clone(spoken), self.terms.finest, now);
        self.let_go(spoken.session, now, out);
    }

    fn end_session(&mut self, session: RowKey, now: UnixMillis, out: &mut Vec<Arc<Spoken>>) {
        if let Some(queue) = self.waiting.get_mut(&session) {
            queue.end_phrases(now);
            self.let_go(session, now, out);
        }
    }

    /// Without a rate only this session can have become due; with one, the oldest of all goes first.
    fn let_go(&mut self, session: RowKey, now: UnixMillis, out: &mut Vec<Arc<Spoken>>) {
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
        out: &mut Vec<Arc<Spoken>>,
    ) -> bool {
        let Some(queue) = self.waiting.get_mut(&session) else { return false };
        let released = queue.pop(now, before);
        if queue.is_empty() {
            self.waiting.remove(&session);
        }
        let Some(spoken) = released else { return false };
        self.leave(spoken, now, out);
        true
    }

    fn leave(&mut self, spoken: Arc<Spoken>, now: UnixMillis, out: &mut Vec<Arc<Spoken>>) {
        if let Some(bucket) = &mut self.bucket {
            bucket.charge(now);
        }
        if self.terms.is_calm && is_calmed(&spoken.event.payload) {
            self.calm_until = now.plus_millis(CALM_MS);
        }
        out.push(spoken);
    }

    fn has_budget(&mut self, now: UnixMillis) -> bool {
        !self.is_paused && self.bucket.as_mut().is_none_or(|bucket| bucket.has_one(now))
    }

    fn first_due(&self) -> Option<(UnixMillis, RowKey)> {
        self.waiting.iter().filter_map(|(session, queue)| Some((self.due_of(queue)?, *session))).min()
    }

    fn due_of(&self, queue: &Queue) -> Option<UnixMillis> {
        queue.front().map(|first| self.due(first.payload(), first.due))
    }

    fn due(&self, payload: &Payload, due: UnixMillis) -> UnixMillis {
        if self.terms.is_calm && is_calmed(payload) { due.max(self.calm_until) } else { due }
    }
}

const fn is_calmed(payload: &Payload) -> bool {
    matches!(payload, Payload::StateChanged(_) | Payload::ProgressUpdated(_))
}

#[cfg(test)]
pub(crate) mod tests;
