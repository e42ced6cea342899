//! The writer's side of a node: its connection, which is renewed when lost, and its lane.

use super::{
    connection::Connection,
    feed::Feed,
    lane::{Lane, LaneNumber},
};
use crate::store::{
    batch::Gains,
    error::Failure,
    position::Keeper,
    proofs::Proof,
    sql::{Access, Row, Sql, Value},
};
use deadpool_postgres::Pool;

pub(super) struct Node {
    pool: Pool,
    number: LaneNumber,
    pub(super) feed: Feed,
    pub(super) connection: Connection,
    pub(super) lane: Option<Lane>,
    /// The once-keys that the open transaction holds.
    pub(super) held: Vec<(String, i64)>,
    /// The proofs that the open transaction holds.
    pub(super) held_proofs: Vec<Proof>,
    /// The position this node acknowledged last; set once it has joined.
    pub(super) keeper: Option<Keeper>,
}

impl Node {
    pub(super) async fn join(pool: Pool, number: LaneNumber, feed: Feed) -> Result<Self, Failure> {
        let connection = Connection::take(&pool).await?;
        let mut node = Self {
            pool,
            number,
            feed,
            connection,
            lane: None,
            held: Vec::new(),
            held_proofs: Vec::new(),
            keeper: None,
        };
        node.make_ready().await?;
        Ok(node)
    }

    pub(super) async fn make_ready(&mut self) -> Result<(), Failure> {
        if self.connection.is_lost() {
            self.connection = Connection::take(&self.pool).await?;
            self.look().await?;
        }
        if self.lane.is_none() {
            self.look().await?;
            let lane = Lane::take(&mut self.connection).await?;
            self.number.set(lane.number);
            self.lane = Some(lane);
        }
        Ok(())
    }

    /// Whether the database still has everything this node acknowledged: it may have been replaced, or restored from a backup
    ///
    async fn look(&mut self) -> Result<(), Failure> {
        match &self.keeper {
            Some(keeper) => keeper.look(&mut self.connection).await,
            None => Ok(()),
        }
    }

    pub(super) fn look_at(&self, lane: i64, commits: i64) -> Result<(), Failure> {
        self.keeper.as_ref().map_or(Ok(()), |keeper| keeper.look_at(lane, commits))
    }

    pub(super) fn keep(&mut self, gains: &Gains<'_>) {
        if let (Some(keeper), Some(lane)) = (&mut self.keeper, &self.lane) {
            keeper.advance(lane.number, gains);
        }
    }

    pub(super) async fn close_keeper(&mut self) {
        if let Some(mut keeper) = self.keeper.take() {
            keeper.close(&mut self.connection).await;
        }
    }

    pub(super) async fn renew_lane(&mut self) -> Result<(), Failure> {
        self.make_ready().await?;
        let Some(lane) = &self.lane else { return Ok(()) };
        if !lane.renew(&mut self.connection).await? {
            self.lane = None;
        }
        Ok(())
    }
}

impl Sql for Node {
    const NAME: &'static str = Connection::NAME;
    const TABLE_SIZES: &'static str = Connection::TABLE_SIZES;
    const DATABASE_SIZE: &'static str = Connection::DATABASE_SIZE;
    const SKIP_LOCKED: &'static str = Connection::SKIP_LOCKED;

    fn one_of(column: &str, placeholder: &str) -> String {
        Connection::one_of(column, placeholder)
    }

    async fn now(&mut self) -> Result<i64, Failure> {
        self.connection.now().await
    }

    async fn query(&mut self, sql: &str, params: &[Value]) -> Result<Vec<Row>, Failure> {
        self.connection.query(sql, params).await
    }

    async fn execute(&mut self, sql: &str, params: &[Value]) -> Result<u64, Failure> {
        self.connection.execute(sql, params).await
    }

    async fn begin(&mut self, access: Access) -> Result<(), Failure> {
        self.connection.begin(access).await
    }

    async fn commit(&mut self) -> Result<(), Failure> {
        self.connection.commit().await
    }

    async fn rollback(&mut self) {
        self.connection.rollback().await;
    }
}
