//! An unreachable operator raises one alert.

use crate::fixture::DirectoryFixture;
use countersign_outbound::operators::DirectoryStats;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};
use tracing::{Event, Level, Metadata, Subscriber, span};

/// Counts warnings.
#[derive(Clone, Default)]
struct Warnings(Arc<AtomicUsize>);

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::WARN && metadata.target().starts_with("countersign_outbound")
    }
    fn event(&self, _event: &Event<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
    fn new_span(&self, _span: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }
    fn record(&self, _span: &span::Id, _values: &span::Record<'_>) {}
    fn record_follows_from(&self, _span: &span::Id, _follows: &span::Id) {}
    fn enter(&self, _span: &span::Id) {}
    fn exit(&self, _span: &span::Id) {}
}

/// AAP-20.3-04
#[tokio::test]
async fn three_failures_in_a_row_raise_the_metric_and_write_one_alert() {
    let warnings = Warnings::default();
    let _listening = tracing::subscriber::set_default(warnings.clone());
    let fixture = DirectoryFixture::start().await;
    let told = || (warnings.0.load(Ordering::Relaxed), fixture.directory.stats());
    let stats = |fetches, failures, dark_hosts| DirectoryStats { fetches, failures, dark_hosts };

    fixture.lookup("k1", 0).await.unwrap();
    fixture.host.go_offline();
    fixture.lookup("k1", 4_000).await.unwrap_err();
    fixture.lookup("k1", 4_001).await.unwrap_err();
    fixture.lookup("k1", 4_060).await.unwrap_err();
    assert_eq!(told(), (0, stats(4, 2, 0)));
    fixture.lookup("k1", 4_120).await.unwrap_err();
    assert_eq!(told(), (1, stats(5, 3, 1)));
    fixture.lookup("k1", 4_180).await.unwrap_err();
    assert_eq!(told(), (1, stats(6, 4, 1)));

    fixture.host.recover();
    fixture.lookup("k1", 4_240).await.unwrap();
    assert_eq!(told(), (1, stats(8, 4, 0)));
}
