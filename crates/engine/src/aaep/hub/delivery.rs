//! One subscription on this node, and its reader. It blocks nobody: one that is not read is closed in time.

use super::feed::{Feed, Joined};
use countersign_core::{
    aaep::{
        negotiate::SubscriptionTerms,
        shared_event::{Form, SharedEvent},
    },
    records::{Subscription, SubscriptionOwner},
};
use countersign_protocol::{ids::RowKey, time::UnixMillis};
use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, AtomicU32, Ordering},
};
use tokio::sync::Notify;

pub(crate) struct Delivery {
    pub(crate) key: RowKey,
    pub(crate) project: RowKey,
    pub(crate) person: RowKey,
    /// `sub_…`
    pub(crate) id: String,
    pub(crate) owner: SubscriptionOwner,
    /// Opened by a connection without a handshake: it ends with the connection.
    pub(crate) is_implicit: bool,
    answers: AtomicBool,
    /// Number of this node's own changes with an outstanding signal.
    own_news: AtomicU32,
    inner: Mutex<Inner>,
}

struct Inner {
    feed: Feed,
    /// The last event taken: an outlet that is in an audience twice delivers the events of a session once.
    last: (RowKey, i64),
    reader: Option<DeliveryReader>,
    readers: u64,
    away_since: UnixMillis,
    /// Number of entitlement checks that have begun and not ended.
    checks: u32,
    ended: Option<Ended>,
}

struct DeliveryReader {
    number: u64,
    wake: Arc<Notify>,
    credential: SubscriptionOwner,
    until: Option<UnixMillis>,
}

/// The reason for the end of a stream, as its reader receives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) code: &'static str,
    pub(crate) message: &'static str,
}

pub(crate) const TOO_SLOW: Ended = Ended {
    code: "too_slow",
    message: "too many events were not read; subscribe again to receive the pending questions",
};
pub(crate) const NO_LONGER_ENTITLED: Ended =
    Ended { code: "authorization_denied", message: "the subscriber is no longer entitled to this subscription" };
pub(crate) const CREDENTIAL_OVER: Ended =
    Ended { code: "authentication_required", message: "the credential of this stream is no longer valid" };
pub(crate) const CLOSED: Ended = Ended { code: "closed", message: "the subscription was closed" };
/// It had no reader for so long that it was removed; its subscription stays open.
pub(crate) const LEFT: Ended = Ended { code: "left", message: "the stream had no reader" };

/// A reader that was just attached.
pub(crate) struct Attached {
    pub(crate) number: u64,
    pub(crate) wake: Arc<Notify>,
    /// Whether it resumes after its last event. Otherwise it needs a snapshot.
    pub(crate) resumes: bool,
}

/// The next item for a reader.
pub(crate) enum NextDelivery {
    Event(Arc<SharedEvent>, Form),
    /// Nothing before this time, unless it is woken.
    Wait(Option<UnixMillis>),
    Over(Ended),
    /// Another reader has attached.
    Replaced,
}

impl Delivery {
    pub(crate) fn new(row: &Subscription, terms: Arc<SubscriptionTerms>, now: UnixMillis) -> Self {
        let answers = row.may_answer && terms.answers_confirmations;
        Self {
            key: row.key,
            project: row.project,
            person: row.person,
            id: row.id.clone(),
            owner: row.owner,
            is_implicit: row.subscriber_id == super::IMPLICIT,
            answers: AtomicBool::new(answers),
            own_news: AtomicU32::new(0),
            inner: Mutex::new(Inner {
                feed: Feed::new(terms, now),
                last: (0, -1),
                reader: None,
                readers: 0,
                away_since: now,
                checks: 0,
                ended: None,
            }),
        }
    }

    /// Whether its reader can answer a confirmation.
    pub(crate) fn can_answer(&self) -> bool {
        self.answers.load(Ordering::Relaxed)
    }

    pub(crate) fn terms(&self) -> Arc<SubscriptionTerms> {
        Arc::clone(self.inner().feed.terms())
    }

    /// Takes events of one session; false if the buffer is full, and then the outlet has ended.
    #[must_use]
    pub(super) fn push(&self, events: &[Arc<SharedEvent>], now: UnixMillis) -> bool {
        let mut inner = self.inner();
        let is_read = inner.reader.is_some();
        for spoken in events {
            if inner.ended.is_some() || inner.has_taken(spoken) {
                continue;
            }
            inner.last = (spoken.session, spoken.seq);
            inner.feed.push(spoken, is_read, now);
            if inner.feed.is_full() {
                inner.end(if is_read { TOO_SLOW } else { LEFT }, now);
                return false;
            }
        }
        inner.wake();
        true
    }

    /// Attaches a new reader and ends the previous one. Unless it resumes, events are held until `tell`.
    pub(super) fn attach(
        &self,
        credential: SubscriptionOwner,
        until: Option<UnixMillis>,
        last_event_id: Option<&str>,
        now: UnixMillis,
    ) -> Attached {
        let mut inner = self.inner();
        inner.wake();
        inner.feed.release_held(now);
        inner.readers += 1;
        let (number, wake) = (inner.readers, Arc::new(Notify::new()));
        inner.reader = Some(DeliveryReader { number, wake: Arc::clone(&wake), credential, until });
        let resumes = inner.feed.resume_or_hold(last_event_id);
        Attached { number, wake, resumes }
    }

    /// Delivers the snapshot to a new reader, then the events since it attached.
    pub(crate) fn deliver_snapshot(&self, number: u64, joined: Vec<Joined>, now: UnixMillis) {
        let mut inner = self.inner();
        if inner.reader.as_ref().is_some_and(|reader| reader.number == number) {
            inner.feed.deliver_snapshot(joined, now);
            inner.wake();
        }
    }

    /// The next item for this reader. Never blocks, so nothing is lost when its caller is dropped.
    pub(crate) fn next_for(&self, number: u64, now: UnixMillis) -> NextDelivery {
        let mut inner = self.inner();
        if let Some(ended) = &inner.ended {
            return NextDelivery::Over(ended.clone());
        }
        let until = match &inner.reader {
            Some(reader) if reader.number == number => reader.until,
            _ => return NextDelivery::Replaced,
        };
        if until.is_some_and(|until| until <= now) {
            return NextDelivery::Over(CREDENTIAL_OVER);
        }
        if inner.checks > 0 {
            return NextDelivery::Wait(until);
        }
        match inner.feed.next(now) {
            Some((spoken, form)) => NextDelivery::Event(spoken, form),
            None => NextDelivery::Wait(inner.feed.next_due().into_iter().chain(until).min()),
        }
    }

    /// Holds events back until the guard is dropped: an event committed after a revocation must not reach the reader
    /// before its entitlement was read again.
    pub(crate) fn hold_for_check(self: &Arc<Self>) -> HeldForCheck {
        self.inner().checks += 1;
        HeldForCheck(Arc::clone(self))
    }

    /// Detaches a reader; returns whether it was the current one and the outlet has not ended.
    pub(super) fn detach(&self, number: u64, now: UnixMillis) -> bool {
        let mut inner = self.inner();
        if inner.reader.as_ref().is_none_or(|reader| reader.number != number) {
            return false;
        }
        inner.reader = None;
        inner.away_since = now;
        inner.feed.release_held(now);
        inner.ended.is_none()
    }

    pub(super) fn is_detached_since(&self, moment: UnixMillis) -> bool {
        let inner = self.inner();
        inner.reader.is_none() && inner.away_since == moment
    }

    pub(super) fn has_reader(&self) -> bool {
        self.inner().reader.is_some()
    }

    /// The current reader's credential, if it is not the one that subscribed.
    pub(crate) fn other_credential(&self) -> Option<SubscriptionOwner> {
        let inner = self.inner();
        inner.reader.as_ref().map(|reader| reader.credential).filter(|credential| *credential != self.owner)
    }

    /// Ends the stream now; the subscription may continue.
    pub(crate) fn expire_reader(&self, now: UnixMillis) {
        let mut inner = self.inner();
        if let Some(reader) = &mut inner.reader {
            reader.until = Some(now);
        }
        inner.wake();
    }

    pub(crate) fn renegotiate(&self, terms: Arc<SubscriptionTerms>, may_answer: bool, now: UnixMillis) {
        self.answers.store(may_answer && terms.answers_confirmations, Ordering::Relaxed);
        let mut inner = self.inner();
        inner.feed.renegotiate(terms, now);
        inner.wake();
    }

    pub(super) fn end(&self, ended: Ended, now: UnixMillis) {
        self.inner().end(ended, now);
    }

    /// The next signal for this subscription will be caused by this node itself.
    pub(crate) fn expect_own_signal(&self) {
        self.own_news.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn cancel_own_signal(&self) {
        self.is_own_signal();
    }

    pub(super) fn is_own_signal(&self) -> bool {
        let one_less = |expected: u32| expected.checked_sub(1);
        self.own_news.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Releases the events of a delivery when the entitlement check ends.
pub(crate) struct HeldForCheck(Arc<Delivery>);

impl Drop for HeldForCheck {
    fn drop(&mut self) {
        let mut inner = self.0.inner();
        inner.checks -= 1;
        inner.wake();
    }
}

impl Inner {
    fn has_taken(&self, spoken: &SharedEvent) -> bool {
        let (session, seq) = self.last;
        session == spoken.session && spoken.seq <= seq
    }

    fn end(&mut self, ended: Ended, now: UnixMillis) {
        self.ended.get_or_insert(ended);
        self.feed.clear(now);
        self.wake();
    }

    fn wake(&self) {
        if let Some(reader) = &self.reader {
            reader.wake.notify_one();
        }
    }
}
