//! The hub: delivers events to every entitled subscription on this node.
//!
//! It is kept in memory only. The store holds everything that must survive a restart, and a subscriber that reconnects
//! receives a snapshot of the open sessions and questions.

mod backlog;
mod delivery;
mod directory;
mod feed;
mod known_terms;
mod order;
mod remote_subscriptions;
mod sending;
mod times;

pub(crate) use delivery::{Attached, CLOSED, Delivery, Ended, NO_LONGER_ENTITLED, NextDelivery};
pub(crate) use feed::Joined;

use countersign_core::{
    records::{Role, SubscriptionOwner},
    signals::{AaepSignal, Audience},
};
use countersign_protocol::{ids::RowKey, time::UnixMillis};
use directory::SubscriptionDirectory;
use known_terms::KnownTerms;
use order::Order;
use remote_subscriptions::RemoteSubscriptions;
use sending::Sending;
use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};
use times::Times;

/// How long an outlet waits for its reader to reconnect (AAEP B.1.5).
const LINGERS_MS: i64 = 60_000;
/// Interval for cleaning up one person's old subscriptions.
const TIDIED_MS: i64 = 3_600_000;
const MOST_TIDIED: usize = 100_000;
/// The `subscriber_id` of a connection that asked for no subscription (C15).
pub(crate) const IMPLICIT: &str = "implicit";

#[derive(Default)]
pub(crate) struct Hub {
    order: Mutex<Order>,
    directory: RwLock<SubscriptionDirectory>,
    /// Outlets without a reader, and since when, oldest first.
    away: Mutex<VecDeque<(UnixMillis, Arc<Delivery>)>>,
    times: Mutex<Times>,
    pub(crate) known_terms: KnownTerms,
    elsewhere: Mutex<RemoteSubscriptions>,
    /// When each person's old subscriptions were last cleaned up.
    tidied: Mutex<HashMap<(RowKey, RowKey), UnixMillis>>,
}

/// Outlets removed from this node.
#[derive(Default)]
pub(crate) struct Evictions {
    /// Their readers were too slow: their subscriptions must be closed.
    pub(crate) too_slow: Vec<Arc<Delivery>>,
    /// Their readers did not reconnect: their subscriptions stay open.
    pub(crate) left: Vec<Arc<Delivery>>,
}

impl Hub {
    /// Delivers events, each in the order of its session.
    pub(crate) fn deliver<'a>(&self, said: impl IntoIterator<Item = &'a AaepSignal>, now: UnixMillis) -> Evictions {
        let mut sending = Sending::new(self, now);
        let mut order = lock(&self.order);
        said.into_iter().for_each(|said| order.accept(said, now, &mut |said| sending.add(said)));
        let full = sending.finish();
        drop(order);
        self.remove_full(full)
    }

    /// Runs the due timers. To be called often.
    pub(crate) fn tick(&self, now: UnixMillis) -> Evictions {
        let mut sending = Sending::new(self, now);
        let mut order = lock(&self.order);
        order.tick(now, &mut |said| sending.add(said));
        let full = sending.finish();
        drop(order);
        let mut gone = self.remove_full(full);
        gone.left.extend(self.remove_idle(now));
        gone
    }

    fn remove_full(&self, full: Vec<Arc<Delivery>>) -> Evictions {
        let mut gone = Evictions::default();
        for outlet in full {
            self.directory_mut().remove(outlet.key);
            match outlet.has_reader() {
                true => gone.too_slow.push(outlet),
                false => gone.left.push(outlet),
            }
        }
        gone
    }

    /// Removes outlets without a reader for too long.
    fn remove_idle(&self, now: UnixMillis) -> Vec<Arc<Delivery>> {
        let mut left = Vec::new();
        let mut away = lock(&self.away);
        while let Some((since, outlet)) = away.front()
            && now.millis_since(*since) >= LINGERS_MS
        {
            let mut directory = self.directory_mut();
            if outlet.is_detached_since(*since) && directory.is_listed(outlet) {
                directory.remove(outlet.key);
                outlet.end(delivery::LEFT, now);
                left.push(Arc::clone(outlet));
            }
            drop(directory);
            away.pop_front();
        }
        left
    }

    /// Lists a subscription. It buffers events from now on until a reader attaches, for at most a minute.
    pub(crate) fn add(&self, outlet: &Arc<Delivery>, roles: Vec<Role>, now: UnixMillis) {
        self.set_time_extension((outlet.project, outlet.person), outlet.key, outlet.terms().time_extension);
        lock(&self.elsewhere).remove((outlet.project, outlet.person), outlet.key);
        self.directory_mut().add(outlet, roles);
        lock(&self.away).push_back((now, Arc::clone(outlet)));
    }

    pub(crate) fn get(&self, subscription: RowKey) -> Option<Arc<Delivery>> {
        self.directory().get(subscription).cloned()
    }

    /// Attaches a reader, unless the outlet was removed meanwhile.
    pub(crate) fn attach(
        &self,
        subscription: RowKey,
        reader: (SubscriptionOwner, Option<UnixMillis>),
        last_event_id: Option<&str>,
        now: UnixMillis,
    ) -> Option<(Arc<Delivery>, Attached)> {
        // This lock prevents its concurrent removal.
        let directory = self.directory();
        let outlet = directory.get(subscription)?;
        Some((Arc::clone(outlet), outlet.attach(reader.0, reader.1, last_event_id, now)))
    }

    pub(crate) fn detach(&self, outlet: &Arc<Delivery>, number: u64, now: UnixMillis) {
        if outlet.detach(number, now) {
            lock(&self.away).push_back((now, Arc::clone(outlet)));
        }
    }

    /// Ends an outlet at once, and with it the time extension of its subscription.
    pub(crate) fn end(&self, subscription: RowKey, ended: Ended, now: UnixMillis) {
        let Some(outlet) = self.directory_mut().remove(subscription) else { return };
        outlet.end(ended, now);
        self.remove_closed((outlet.project, outlet.person), subscription);
    }

    pub(crate) fn set_roles(&self, subscription: RowKey, roles: Vec<Role>) {
        self.directory_mut().set_roles(subscription, roles);
    }

    pub(crate) fn of_person(&self, person: RowKey) -> Vec<Arc<Delivery>> {
        self.directory().of_person(person)
    }

    pub(crate) fn count(&self, project: RowKey, person: RowKey) -> usize {
        self.directory().count(project, person)
    }

    /// A subscription opened by this credential, for replies that name none (C15).
    pub(crate) fn opened_by(&self, project: RowKey, person: RowKey, owner: SubscriptionOwner) -> Option<String> {
        let directory = self.directory();
        let mut own = directory.in_project(project, person).filter(|outlet| outlet.owner == owner);
        own.next().map(|outlet| outlet.id.clone())
    }

    /// Whether the signal of a change was caused by this node itself.
    pub(crate) fn is_own_signal(&self, subscription: RowKey) -> bool {
        self.get(subscription).is_some_and(|outlet| outlet.is_own_signal())
    }

    /// The longest time extension in the subscriptions of these people.
    pub(crate) fn longest_time_extension(&self, project: RowKey, people: &[RowKey]) -> Option<i64> {
        lock(&self.times).longest(project, people)
    }

    /// The people with time extensions that are not loaded yet.
    pub(crate) fn people_to_load(&self, project: RowKey, people: &[RowKey]) -> Vec<RowKey> {
        let mut times = lock(&self.times);
        people.iter().copied().filter(|person| times.begin_loading((project, *person))).collect()
    }

    pub(crate) fn loading_failed(&self, project: RowKey, person: RowKey) {
        lock(&self.times).loading_failed((project, person));
    }

    pub(crate) fn set_time_extension(&self, place: (RowKey, RowKey), subscription: RowKey, seconds: Option<u32>) {
        lock(&self.times).set(place, subscription, seconds.map(i64::from));
    }

    /// Drops the time extension and the remote entry of a closed subscription.
    pub(crate) fn remove_closed(&self, place: (RowKey, RowKey), subscription: RowKey) {
        self.set_time_extension(place, subscription, None);
        lock(&self.elsewhere).remove(place, subscription);
    }

    /// Records a remote subscription.
    pub(crate) fn set_remote_subscription(&self, place: (RowKey, RowKey), subscription: RowKey, answers: bool) {
        match answers {
            true => lock(&self.elsewhere).insert(place, subscription),
            false => lock(&self.elsewhere).remove(place, subscription),
        }
    }

    /// Whether anybody in the audience could answer now: by a stream that is or was just open, or by a remote
    /// subscription.
    pub(crate) fn has_answerer(&self, project: RowKey, among: &Audience) -> bool {
        self.directory().audience(project, among).any(|outlet| outlet.can_answer())
            || lock(&self.elsewhere).has_answerer(project, among)
    }

    /// Whether this person's old subscriptions are due for a clean-up: once an hour.
    pub(crate) fn begin_clean_up(&self, place: (RowKey, RowKey), now: UnixMillis) -> bool {
        let mut tidied = lock(&self.tidied);
        if tidied.get(&place).is_some_and(|at| now.millis_since(*at) < TIDIED_MS) {
            return false;
        }
        if tidied.len() >= MOST_TIDIED {
            tidied.clear();
        }
        tidied.insert(place, now);
        true
    }

    fn directory(&self) -> RwLockReadGuard<'_, SubscriptionDirectory> {
        self.directory.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn directory_mut(&self) -> RwLockWriteGuard<'_, SubscriptionDirectory> {
        self.directory.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A panic cannot leave inconsistent data behind, so a poisoned lock is safe to use.
fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
