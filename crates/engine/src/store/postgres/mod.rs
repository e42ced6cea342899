//! Any number of identical nodes over one PostgreSQL: the database decides, and there is no leader.

mod bulk;
mod connect;
mod connection;
mod feed;
mod join;
mod lane;
mod load;
mod migrations;
mod node;
mod proofs;
mod statements;
mod tx;

use super::{
    Opening, PostgresLocation, Store, StoreClock, StoreError,
    error::StoreFailure,
    feed_freshness::FeedFreshness,
    health::Health,
    maintenance::{self, MaintenanceJob, Swept},
    open_store::{Backend, OpenedStore},
    signals::Listeners,
    writer::{self, Writer},
};
use async_trait::async_trait;
use connect::Dialer;
use connection::PooledConnection;
use deadpool_postgres::Pool;
use feed::{Feed, FeedTask};
use futures_util::future::BoxFuture;
use join::Joining;
use lane::LaneNumber;
use node::NodeRow;
use std::sync::Arc;

pub(super) async fn open(
    place: PostgresLocation,
    opening: Opening,
    clock: StoreClock,
) -> Result<Arc<dyn Store>, StoreError> {
    let way = Dialer::new(&place)?;
    let pool = way.pool(place.connections)?;
    let joining = Joining::check(&pool, opening, clock).await?;
    migrations::run(&pool).await?;
    let (lane, feed, health) = (LaneNumber::default(), Feed::begin(), Health::default());
    let mut node = NodeRow::join(pool.clone(), lane.clone(), feed.clone()).await?;
    let lock = joining.keep(&mut node, &health).await?;
    feed.start_at_end(&mut node.connection).await?;
    let (writer, jobs) = Writer::new(true);
    tokio::spawn(async move {
        let closed = writer::run(node, jobs).await;
        drop(lock);
        if let Some(closed) = closed {
            let _gone = closed.send(());
        }
    });
    let following = feed.follow(way);
    Ok(Arc::new(OpenedStore::new(Postgres { pool, writer, lane, feed, following, health }, None)))
}

struct Postgres {
    pool: Pool,
    writer: Writer,
    lane: LaneNumber,
    feed: Feed,
    following: FeedTask,
    health: Health,
}

#[async_trait]
impl Backend for Postgres {
    type Reader = PooledConnection;
    const OWN_CLOCK: bool = true;
    const SWEPT_TOO: &'static [Swept] = &[Swept::NEWS];

    async fn read<R, F>(&self, read: F) -> Result<R, StoreError>
    where
        R: Send + 'static,
        F: for<'c> FnOnce(&'c mut PooledConnection) -> BoxFuture<'c, Result<R, StoreFailure>> + Send + 'static,
    {
        let mut connection = PooledConnection::take(&self.pool).await?;
        Ok(read(&mut connection).await?)
    }

    /// Beside the writer, on a connection of its own.
    async fn maintain(&self, chore: MaintenanceJob) -> Result<u64, StoreError> {
        let mut connection = PooledConnection::take(&self.pool).await?;
        maintenance::run(&mut connection, chore).await
    }

    async fn drop_expired_proofs(&self) -> Result<(), StoreError> {
        let mut connection = PooledConnection::take(&self.pool).await?;
        Ok(proofs::drop_expired(&mut connection).await?)
    }

    fn feed_freshness(&self) -> FeedFreshness {
        self.feed.feed_freshness()
    }

    async fn other_nodes(&self) -> Result<Vec<i64>, StoreError> {
        let mut connection = PooledConnection::take(&self.pool).await?;
        Ok(lane::others(&mut connection, self.lane.get()).await?)
    }

    fn close_readers(&self) {
        self.following.end();
    }

    fn writer(&self) -> &Writer {
        &self.writer
    }

    fn listeners(&self) -> &Listeners {
        self.feed.listeners()
    }

    fn health(&self) -> &Health {
        &self.health
    }

    fn lane(&self) -> i64 {
        self.lane.get()
    }
}
