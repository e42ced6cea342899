//! Events on their way to the outlets: those of one session and audience go together, so that each outlet is visited once for
//! all events of a step.

use super::{Hub, delivery::Delivery};
use countersign_core::{aaep::shared_event::SharedEvent, signals::AaepSignal, signals::Audience};
use countersign_protocol::{ids::RowKey, time::UnixMillis};
use std::sync::Arc;

pub(super) struct Sending<'a> {
    hub: &'a Hub,
    now: UnixMillis,
    /// Project and session of the events below, and who receives them.
    place: (RowKey, RowKey),
    to: Audience,
    events: Vec<Arc<SharedEvent>>,
    full: Vec<Arc<Delivery>>,
}

impl<'a> Sending<'a> {
    pub(super) fn new(hub: &'a Hub, now: UnixMillis) -> Self {
        Self { hub, now, place: (0, 0), to: Audience::default(), events: Vec::new(), full: Vec::new() }
    }

    pub(super) fn add(&mut self, said: &AaepSignal) {
        let place = (said.project, said.session);
        if self.place != place || self.to != said.to {
            self.send();
            (self.place, self.to) = (place, said.to.clone());
        }
        let (event, translations) = (Arc::clone(&said.event), Arc::clone(&said.translations));
        self.events.push(Arc::new(SharedEvent::new(said.session, said.seq, event, translations)));
    }

    /// Sends the rest, and returns the outlets that could not take everything.
    pub(super) fn finish(mut self) -> Vec<Arc<Delivery>> {
        self.send();
        self.full
    }

    fn send(&mut self) {
        if self.events.is_empty() {
            return;
        }
        let directory = self.hub.directory();
        let audience = directory.audience(self.place.0, &self.to);
        self.full.extend(audience.filter(|outlet| !outlet.push(&self.events, self.now)).cloned());
        self.events.clear();
    }
}
