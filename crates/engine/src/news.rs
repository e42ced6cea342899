//! What was committed, here or on another node, is told to whoever listens on this one.

use crate::engine::Engine;
use countersign_core::news::News;
use std::sync::{Arc, Weak};

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
    }

    fn heard(&self, news: &News) {
        match news {
            News::Said(said) => self.hub.said(said),
            News::Changed { decision } => self.waits.wake(*decision),
            News::Standing { person } => {
                self.waits.wake_all();
                self.hub.standing(*person);
            }
            News::Subscription { subscription } => self.hub.subscription_changed(*subscription),
        }
    }
}
