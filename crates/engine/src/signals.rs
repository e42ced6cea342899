//! Passes the signals of commits, here or on another node, to the subscribers and waiters of this one.

use crate::{engine::Engine, mplp::FEED};
use countersign_core::{
    aap::concurrent_use::LastUse,
    signals::{AaepSignal, Signal},
};
use std::{
    borrow::Cow,
    sync::{Arc, Weak},
    time::Duration,
};

/// How often the hub's deadlines are checked: none of them is urgent.
const TENDED: Duration = Duration::from_millis(250);

impl Engine {
    /// Begins to pass signals on, for as long as there is an engine.
    pub(crate) fn forward_signals(self: &Arc<Self>) {
        let mut batches = self.store.listen();
        let engine: Weak<Self> = Arc::downgrade(self);
        tokio::spawn(async move {
            while let Some(batch) = batches.recv().await {
                let Some(engine) = engine.upgrade() else { return };
                engine.dispatch_signals(&batch);
                if let Some(start) = batch.up_to {
                    engine.feed_freshness.record_reading(start);
                }
            }
        });
        self.spawn_hub_timer();
    }

    fn spawn_hub_timer(self: &Arc<Self>) {
        let engine: Weak<Self> = Arc::downgrade(self);
        tokio::spawn(async move {
            while let Some(engine) = engine.upgrade() {
                engine.events().run_hub_timers();
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

    /// In their order; events that come one after the other are delivered together.
    fn dispatch_signals(self: &Arc<Self>, batch: &[Arc<Signal>]) {
        let is_event = |news: &Arc<Signal>| matches!(&**news, Signal::Said(_));
        for run in batch.chunk_by(|one, next| is_event(one) && is_event(next)) {
            let said = run.iter().filter_map(|news| match &**news {
                Signal::Said(said) => Some(self.with_token(said)),
                _ => None,
            });
            let said: Vec<Cow<'_, AaepSignal>> = said.collect();
            if said.is_empty() {
                run.iter().for_each(|news| self.dispatch_signal(news));
            } else {
                let gone = self.hub.deliver(said.iter().map(|said| &**said), self.now());
                self.events().evict(gone);
            }
        }
    }

    fn dispatch_signal(self: &Arc<Self>, news: &Signal) {
        match news {
            // Delivered together with others.
            Signal::Said(_) => {}
            Signal::Changed { decision } => {
                self.waiters.wake(*decision);
                self.waiters.wake(FEED);
            }
            Signal::Standing { person } => {
                self.waiters.wake_all();
                self.events().recheck_person(*person);
            }
            Signal::Subscription { subscription } => self.events().subscription_changed(*subscription),
            Signal::Ended { holders, node } => self.on_ended(holders, *node),
            // This node has noted its own.
            Signal::Used { node, .. } if *node == self.store.lane() => {}
            Signal::Used { delegation, network, at, window_seconds, .. } => {
                self.on_used(*delegation, LastUse { network: *network, at: *at }, *window_seconds);
            }
            Signal::Lifted { delegation } => self.last_uses.forget(*delegation),
            Signal::Acknowledged { holders, node } => self.on_acknowledged(holders, *node),
        }
    }
}
