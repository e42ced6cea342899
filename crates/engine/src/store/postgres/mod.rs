//! Any number of identical nodes over one PostgreSQL: the database decides, nobody leads.

mod bulk;
mod connect;
mod connection;
mod lane;
mod load;
mod migrations;
mod node;
mod statements;
mod tx;

use super::{
    PostgresPlace, Store, StoreError,
    chores::{self, Chore},
    error::Failure,
    opened::{Backend, Opened},
    writer::{self, Writer},
};
use async_trait::async_trait;
use connection::Connection;
use deadpool_postgres::Pool;
use futures_util::future::BoxFuture;
use lane::LaneNumber;
use node::Node;
use std::sync::Arc;

pub(super) async fn open(place: PostgresPlace) -> Result<Arc<dyn Store>, StoreError> {
    let pool = connect::pool(&place)?;
    migrations::run(&pool).await?;
    let lane = LaneNumber::default();
    let node = Node::join(pool.clone(), lane.clone()).await?;
    let (writer, jobs) = Writer::new();
    tokio::spawn(async move {
        if let Some(closed) = writer::run(node, jobs).await {
            let _gone = closed.send(());
        }
    });
    Ok(Arc::new(Opened(Postgres { pool, writer, lane })))
}

struct Postgres {
    pool: Pool,
    writer: Writer,
    lane: LaneNumber,
}

#[async_trait]
impl Backend for Postgres {
    type Reader = Connection;

    async fn read<R, F>(&self, read: F) -> Result<R, StoreError>
    where
        R: Send + 'static,
        F: for<'c> FnOnce(&'c mut Connection) -> BoxFuture<'c, Result<R, Failure>> + Send + 'static,
    {
        let mut connection = Connection::take(&self.pool).await?;
        Ok(read(&mut connection).await?)
    }

    /// Beside the writer, on a connection of its own.
    async fn chore(&self, chore: Chore) -> Result<u64, StoreError> {
        let mut connection = Connection::take(&self.pool).await?;
        chores::run(&mut connection, chore).await
    }

    fn writer(&self) -> &Writer {
        &self.writer
    }

    fn lane(&self) -> i64 {
        self.lane.get()
    }
}
