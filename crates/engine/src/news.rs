//! What was committed, here or on another node, is told to whoever listens on this one.

use crate::engine::Engine;
use countersign_core::news::News;
use std::{
    sync::{Arc, Weak},
    time::Duration,
};

/// How often the hub is asked what it has due: nothing of it is urgent.
const TENDED: Duration = Duration::from_millis(250);

impl Engine {
    /// Begins to pass the news on, for as long as there is an engine.
    pub(crate) fn pass_news_on(self: &Arc<Self>) {
        let mut batches = self.store.listen();
        let engine: Weak<Self> = Arc::downgrade(self);
        tokio::spawn(async move {
            while let Some(batch) = batches.recv().await {
                let Some(engine) = engine.upgrade() else { return };
                for news in batch.iter() {
                    engine.heard(news);
                }
            }
        });
        self.keep_tending();
    }

    fn keep_tending(self: &Arc<Self>) {
        let engine: Weak<Self> = Arc::downgrade(self);
        tokio::spawn(async move {
            while let Some(engine) = engine.upgrade() {
                engine.tend();
                drop(engine);
                tokio::time::sleep(TENDED).await;
            }
        });
    }

    fn heard(self: &Arc<Self>, news: &News) {
        match news {
            News::Said(said) => {
                let gone = self.hub.said(said, self.now());
                self.are_gone(gone);
            }
            News::Changed { decision } => self.waits.wake(*decision),
            News::Standing { person } => {
                self.waits.wake_all();
                self.standing_changed(*person);
            }
            News::Subscription { subscription } => self.subscription_changed(*subscription),
        }
    }
}
