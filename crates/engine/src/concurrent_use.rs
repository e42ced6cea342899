//! The last use of each delegation, in the memory of this node, and the suspension that simultaneous use causes.
//!
//! A call pays one look into memory, no row and no query. Nodes tell each other of a network when it is new, and then
//! twice a window, by a signal that no call waits for. A node that restarts, or forgets under load, starts anew.

use crate::{engine::Engine, services::Agents, store::Outcome};
use countersign_core::{
    aap::{
        access::{Call, CallFacts},
        concurrent_use::{ClientNetwork, LastUse, SuspendForConcurrentUse, SuspendView},
    },
    records::{Delegation, Project},
    refusal::Refusal,
    signals::Signal,
    step::{Effects, Operation as _},
};
use countersign_protocol::{ids::RowKey, time::UnixMillis};
use quick_cache::unsync::Cache;
use std::sync::{Arc, Mutex, PoisonError};

const REMEMBERED: usize = 100_000;

/// By delegation.
pub(crate) struct LastUses(Mutex<Cache<RowKey, Remembered>>);

#[derive(Clone, Copy)]
struct Remembered {
    last: LastUse,
    /// When the other nodes were last told of this network.
    told_at: Option<UnixMillis>,
}

impl Default for LastUses {
    fn default() -> Self {
        Self(Mutex::new(Cache::new(REMEMBERED)))
    }
}

/// The result of a use.
#[derive(Debug, PartialEq, Eq)]
enum Noted {
    Alone {
        /// Whether it is time to tell the other nodes.
        tell: bool,
    },
    /// Also in use from this network.
    Elsewhere(ClientNetwork),
}

impl LastUses {
    pub(crate) fn forget(&self, delegation: RowKey) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&delegation);
    }

    /// Notes a use, and forgets the delegation if it conflicts: once the suspension is lifted, it starts anew.
    fn note(&self, delegation: RowKey, used: LastUse, window_seconds: i64) -> Noted {
        let mut cache = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = cache.get(&delegation).copied();
        if let Some(earlier) = before.filter(|earlier| earlier.last.conflicts_with(&used, window_seconds)) {
            cache.remove(&delegation);
            return Noted::Elsewhere(earlier.last.network);
        }
        let same = before.filter(|earlier| earlier.last.network == used.network);
        let told_at = same.and_then(|earlier| earlier.told_at);
        let tell = told_at.is_none_or(|at| used.at.millis_since(at) >= window_seconds.saturating_mul(500));
        let last = LastUse { at: before.map_or(used.at, |earlier| earlier.last.at.max(used.at)), ..used };
        cache.insert(delegation, Remembered { last, told_at: if tell { Some(used.at) } else { told_at } });
        Noted::Alone { tell }
    }
}

impl Engine {
    /// Another node reports a use.
    pub(crate) fn on_used(self: &Arc<Self>, delegation: RowKey, used: LastUse, window_seconds: i64) {
        if let Noted::Elsewhere(network) = self.last_uses.note(delegation, used, window_seconds) {
            let engine = Arc::clone(self);
            self.tasks.spawn(async move {
                if let Err(why) = engine.agents().suspend_delegation(delegation, [network, used.network]).await {
                    tracing::error!(%why, "a delegation in use from two networks could not be suspended");
                }
            });
        }
    }

    fn tell_used(self: &Arc<Self>, delegation: RowKey, used: LastUse, window_seconds: i64) {
        if !self.feed_freshness.is_shared() {
            return;
        }
        let LastUse { network, at } = used;
        let news = vec![Signal::Used { delegation, network, at, window_seconds, node: self.store.lane() }];
        let engine = Arc::clone(self);
        self.tasks.spawn(async move {
            if let Outcome::Unavailable(why) = engine.store.commit(Effects { news, ..Effects::default() }).await {
                tracing::warn!(why, "other nodes could not be told of a delegation's network");
            }
        });
    }
}

impl Agents<'_> {
    /// Whether a decided call showed simultaneous use: the delegation is then suspended, and the call decided again.
    pub(crate) async fn suspended_by_use(self, facts: &CallFacts, call: &Call) -> Result<bool, Refusal> {
        let watch = facts.project().document.concurrent_use.as_ref();
        let (Some(watch), Some(client), Some(delegation)) = (watch, call.client, facts.delegation()) else {
            return Ok(false);
        };
        let used = LastUse { network: ClientNetwork::of(client, watch), at: self.now() };
        match self.last_uses.note(delegation, used, watch.window_seconds) {
            Noted::Elsewhere(network) => {
                Box::pin(self.suspend_delegation(delegation, [network, used.network])).await?;
                Ok(true)
            }
            Noted::Alone { tell } => {
                if tell {
                    self.engine.tell_used(delegation, used, watch.window_seconds);
                }
                Ok(false)
            }
        }
    }

    /// The row's version lets one node suspend it, and one message leave.
    async fn suspend_delegation(self, key: RowKey, networks: [ClientNetwork; 2]) -> Result<(), Refusal> {
        self.run(|| async {
            let delegation: Delegation = self.load(key).await?;
            let project: Project = self.load(delegation.project).await?;
            let notifies_operator = self.is_enrolled(delegation.project, &delegation.operator).await?;
            let view = SuspendView { place: (project.key, project.id), delegation, notifies_operator };
            SuspendForConcurrentUse { networks }.decide(&view, &self.env()?)
        })
        .await
    }
}
