//! Lets a test see its own log, however many tests run beside it.
//!
//! `tracing` asks once for each place in the code whether anybody listens, and remembers the answer for all threads.
//! If nobody listens on the thread that comes by first, a test that listens on another would hear nothing. So there
//! is always somebody who listens a little.

use std::sync::Once;
use tracing::{
    Metadata, Subscriber,
    span::{Attributes, Id, Record},
    subscriber::Interest,
};

pub(crate) fn can_be_listened_to() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // If somebody else listens for the whole process already, that does as well.
        let _listening = tracing::subscriber::set_global_default(HalfAnEar);
    });
}

/// Asks to be asked again, and then wants nothing.
struct HalfAnEar;

impl Subscriber for HalfAnEar {
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
