//! Passes the signals of commits, here or on another node, to the subscribers and waiters of this one.

use crate::{engine::Engine, mplp::FEED};
use countersign_core::signals::{AaepSignal, Signal};
use std::{
    borrow::Cow,
    sync::{Arc, Weak},
    time::Duration,
};

/// How often the hub's deadlines are checked: none of them is urgent.
const TENDED: Duration = Duration::from_millis(250);

impl Engine {
    /// Begins to pass signals on, for as long as there is an engine.
    pub(crate) fn pass_news_on(self: &Arc<Self>) {
        let mut batches = self.store.listen();
        let engine: Weak<Self> = Arc::downgrade(self);
        tokio::spawn(async move {
            while let Some(batch) = batches.recv().await {
                let Some(engine) = engine.upgrade() else { return };
                for news in batch.iter() {
                    engine.heard(news);
                }
                if let Some(start) = batch.up_to {
                    engine.hearing.heard(start);
                }
            }
        });
        self.keep_tending();
    }

    fn keep_tending(self: &Arc<Self>) {
        let engine: Weak<Self> = Arc::downgrade(self);
        tokio::spawn(async move {
            while let Some(engine) = engine.upgrade() {
                engine.events().tend();
                drop(engine);
                tokio::time::sleep(TENDED).await;
            }
        });
    }

    /// A signal of another node comes without the reply token, which every node can make.
    fn with_token<'a>(self: &Arc<Self>, said: &'a AaepSignal) -> Cow<'a, AaepSignal> {
        let token = said.omitted_token_decision().and_then(|decision| self.decisions().reply_token(decision).ok());
        let Some(token) = token else { return Cow::Borrowed(said) };
        let mut said = said.clone();
        said.set_reply_token(&token);
        Cow::Owned(said)
    }

    fn heard(self: &Arc<Self>, news: &Signal) {
        match news {
            Signal::Said(said) => {
                let gone = self.hub.said(&self.with_token(said), self.now());
                self.events().are_gone(gone);
            }
            Signal::Changed { decision } => {
                self.waits.wake(*decision);
                self.waits.wake(FEED);
            }
            Signal::Standing { person } => {
                self.waits.wake_all();
                self.events().standing_changed(*person);
            }
            Signal::Subscription { subscription } => self.events().subscription_changed(*subscription),
            Signal::Ended { holders, node } => self.heard_ended(holders, *node),
            Signal::Acknowledged { holders, node } => self.heard_acknowledged(holders, *node),
        }
    }
}
