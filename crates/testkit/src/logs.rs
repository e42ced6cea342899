//! Lets a test capture its own log, however many tests run beside it.
//!
//! `tracing` asks once for each callsite whether any subscriber is interested, and caches the result for all threads.
//! If the first thread has no subscriber, a test with one on another thread would capture nothing. So there is always a
//! global subscriber with interest `sometimes`.

use std::sync::Once;
use tracing::{
    Metadata, Subscriber,
    span::{Attributes, Id, Record},
    subscriber::Interest,
};

pub(crate) fn allow_capture() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Another global subscriber serves the purpose as well.
        let _kept = tracing::subscriber::set_global_default(SometimesInterested);
    });
}

/// Asks to be consulted at every event, and then accepts none.
struct SometimesInterested;

impl Subscriber for SometimesInterested {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::sometimes()
    }

    fn enabled(&self, _: &Metadata<'_>) -> bool {
        false
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &tracing::Event<'_>) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
