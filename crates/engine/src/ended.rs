//! The end of a delegation or an AAP session, on every node.
//!
//! The step that ends one carries [`Signal::Ended`]. Every node that receives it gives the in-flight writes under it a moment
//! to finish, cuts the rest, sends no more reads under it, and acknowledges. The caller is answered when all nodes in service have acknowledged, or after
//! a second: by then a node that received nothing sends nothing either ([`FeedFreshness`](crate::store::FeedFreshness)).

use crate::{engine::Engine, store::Outcome};
use countersign_core::{
    records::{DelegationState, Record, SessionState},
    refusal::Refusal,
    signals::Signal,
    step::Effects,
};
use countersign_protocol::{ids::RowKey, time::UnixMillis};
use std::{collections::BTreeSet, sync::Arc, time::Duration};
use tokio::sync::broadcast::{self, error::RecvError};

/// An end is answered after this time even without all acknowledgements.
const ANSWERED: Duration = Duration::from_secs(1);
/// After this time every node has received an end, or is out of service and knows it.
const LONG_AGO_MS: i64 = 10_000;
/// More than are under way at once; a receiver that falls behind waits for the whole second.
const ROOM: usize = 1024;

/// Acknowledgements of the nodes, for the endings that wait for them here.
pub(crate) struct Acknowledgements(broadcast::Sender<(Vec<RowKey>, i64)>);

/// Collects acknowledgements. Created before the ending step, so that none is missed.
pub(crate) struct Ending(broadcast::Receiver<(Vec<RowKey>, i64)>);

impl Default for Acknowledgements {
    fn default() -> Self {
        Self(broadcast::channel(ROOM).0)
    }
}

impl Ending {
    async fn wait_for_nodes(mut self, holders: &[RowKey], nodes: Vec<i64>) {
        let mut missing: BTreeSet<(RowKey, i64)> =
            holders.iter().flat_map(|holder| nodes.iter().map(|node| (*holder, *node))).collect();
        while !missing.is_empty() {
            match self.0.recv().await {
                Ok((ended, node)) => missing.retain(|(holder, from)| *from != node || !ended.contains(holder)),
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return std::future::pending().await,
            }
        }
    }
}

impl Engine {
    /// To be called before the ending step.
    pub(crate) fn subscribe_acknowledgements(&self) -> Ending {
        Ending(self.acknowledgements.0.subscribe())
    }

    /// Returns when no node sends anything more under these holders, which ended at `at`: when all have acknowledged it, or
    /// after a second.
    pub(crate) async fn wait_for_inflight_writes(&self, holders: &[RowKey], ending: Ending, at: UnixMillis) {
        let writes = self.inflight_writes.of(holders).wait_or_cut_after(ANSWERED);
        let others = async {
            if self.now().millis_since(at) < LONG_AGO_MS {
                let _acknowledged_or_time =
                    tokio::time::timeout(ANSWERED, self.wait_for_acknowledgements(holders, ending)).await;
            }
        };
        tokio::join!(writes, self.wait_for_pieces_of_reads(), others);
    }

    /// The reads under an ended holder are cut, except for the pieces that are leaving at this moment.
    async fn wait_for_pieces_of_reads(&self) {
        if tokio::time::timeout(ANSWERED, self.ended_holders.wait_for_pieces()).await.is_err() {
            tracing::warn!("a piece of a read is being sent for a second; a revocation does not wait for it");
        }
    }

    async fn wait_for_acknowledgements(&self, holders: &[RowKey], ending: Ending) {
        match self.store.other_nodes().await {
            Ok(nodes) => ending.wait_for_nodes(holders, nodes).await,
            Err(why) => {
                tracing::warn!(%why, "the state of other nodes is unknown; a revocation waits the full second");
                std::future::pending().await
            }
        }
    }

    /// Adds the signal to a step that ends delegations or sessions, and returns their keys.
    pub(crate) fn announce_ended(&self, effects: &mut Effects) -> Vec<RowKey> {
        let holders: Vec<RowKey> = effects.puts.iter().filter_map(ended).collect();
        if !holders.is_empty() {
            effects.news.push(Signal::Ended { holders: holders.clone(), node: self.store.lane() });
        }
        holders
    }

    /// This node or another ended these, after the last good reading of the feed, or that reading would have contained it.
    /// So the remaining time of the writes under them is known without comparing clocks.
    pub(crate) fn on_ended(self: &Arc<Self>, holders: &[RowKey], node: i64) {
        self.credential_cache.remove_holders(holders);
        let (leaving, left) = (self.inflight_writes.of(holders), self.feed_freshness.remaining());
        if left.is_zero() {
            // At once: this reading would release the writes that were held up.
            leaving.cut();
        }
        let (engine, holders) = (Arc::clone(self), holders.to_vec());
        let acknowledges = self.feed_freshness.is_shared() && node != self.store.lane();
        self.tasks.spawn(async move {
            leaving.wait_or_cut_after(left).await;
            if acknowledges {
                engine.wait_for_pieces_of_reads().await;
                engine.acknowledge(holders).await;
            }
        });
    }

    async fn acknowledge(&self, holders: Vec<RowKey>) {
        let news = vec![Signal::Acknowledged { holders, node: self.store.lane() }];
        if let Outcome::Unavailable(why) = self.store.commit(Effects { news, ..Effects::default() }).await {
            tracing::warn!(why, "a revocation could not be acknowledged; the other node waits the full second");
        }
    }

    pub(crate) fn on_acknowledged(&self, holders: &[RowKey], node: i64) {
        let _nobody_waits = self.acknowledgements.0.send((holders.to_vec(), node));
    }

    /// A node that may have missed a revocation sends nothing. To be called before the intent is made durable, and before an
    /// approval is claimed.
    pub(crate) async fn require_recent_feed(&self) -> Result<(), Refusal> {
        if self.feed_freshness.recovers_in_time().await {
            return Ok(());
        }
        tracing::error!("this node cannot read the commits of other nodes; it forwards no writes");
        Err(Refusal::Unavailable)
    }
}

/// The delegation or session that a row ends.
fn ended(record: &Record) -> Option<RowKey> {
    match record {
        Record::Delegation(delegation) if delegation.state != DelegationState::Active => Some(delegation.key),
        Record::Session(session) if session.state != SessionState::Open => Some(session.key),
        _ => None,
    }
}
