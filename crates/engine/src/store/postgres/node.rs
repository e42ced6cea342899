//! The writer's side of a node: its connection, which is renewed when lost, and its lane.

use super::{
    connection::PooledConnection,
    feed::Feed,
    lane::{Lane, LaneNumber},
};
use crate::store::{batch::Gains, error::StoreFailure, position::Keeper, proofs::StoredProof};
use deadpool_postgres::Pool;

pub(super) struct NodeRow {
    pool: Pool,
    number: LaneNumber,
    pub(super) feed: Feed,
    pub(super) connection: PooledConnection,
    pub(super) lane: Option<Lane>,
    /// Whether the open transaction is still in the savepoint of a step that fits.
    pub(super) in_step: bool,
    /// The once-keys that the open transaction holds.
    pub(super) held: Vec<(String, i64)>,
    /// The proofs that the open transaction holds.
    pub(super) held_proofs: Vec<StoredProof>,
    /// The position this node acknowledged last; set once it has joined.
    pub(super) keeper: Option<Keeper>,
}

impl NodeRow {
    pub(super) async fn join(pool: Pool, number: LaneNumber, feed: Feed) -> Result<Self, StoreFailure> {
        let connection = PooledConnection::take(&pool).await?;
        let mut node = Self {
            pool,
            number,
            feed,
            connection,
            lane: None,
            in_step: false,
            held: Vec::new(),
            held_proofs: Vec::new(),
            keeper: None,
        };
        node.reconnect().await?;
        Ok(node)
    }

    pub(super) async fn reconnect(&mut self) -> Result<(), StoreFailure> {
        if self.connection.is_lost() {
            self.connection = PooledConnection::take(&self.pool).await?;
            self.check_position().await?;
        }
        if self.lane.is_none() {
            self.check_position().await?;
            let lane = Lane::take(&mut self.connection).await?;
            self.number.set(lane.number);
            self.lane = Some(lane);
        }
        Ok(())
    }

    /// Whether the database still has everything this node acknowledged: it may have been replaced, or restored from a backup
    ///
    async fn check_position(&mut self) -> Result<(), StoreFailure> {
        match &self.keeper {
            Some(keeper) => keeper.check(&mut self.connection).await,
            None => Ok(()),
        }
    }

    pub(super) fn check_commits(&self, lane: i64, commits: i64) -> Result<(), StoreFailure> {
        self.keeper.as_ref().map_or(Ok(()), |keeper| keeper.check_commits(lane, commits))
    }

    pub(super) fn advance_position(&mut self, gains: &Gains<'_>) {
        if let (Some(keeper), Some(lane)) = (&mut self.keeper, &self.lane) {
            keeper.advance(lane.number, gains);
        }
    }

    pub(super) async fn close_keeper(&mut self) {
        if let Some(mut keeper) = self.keeper.take() {
            keeper.close(&mut self.connection).await;
        }
    }

    pub(super) async fn renew_lane(&mut self) -> Result<(), StoreFailure> {
        self.reconnect().await?;
        let Some(lane) = &self.lane else { return Ok(()) };
        if !lane.renew(&mut self.connection).await? {
            self.lane = None;
        }
        Ok(())
    }
}
