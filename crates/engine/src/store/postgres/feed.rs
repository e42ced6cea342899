//! The signals of the other nodes, read from the database after those passed on already.
//!
//! A notification only wakes the reader, which also polls; only positions count. So a connection that is lost and renewed,
//! or a notification that never came, costs time and no signal.

use super::{
    connect::Dialer,
    connection::{PooledConnection, failure, with_timeout},
};
use crate::{
    clock::monotonic,
    store::{
        error::StoreFailure,
        feed_freshness::FeedFreshness,
        signals::{self, FeedPosition, Listeners, PlacedSignal},
        sql::Sql as _,
    },
};
use countersign_core::signals::Signal;
use std::{convert::Infallible, sync::Arc, time::Duration};
use tokio::{sync::Notify, task::AbortHandle};
use tokio_postgres::{Client, Row, Statement};

const LOOK: Duration = Duration::from_millis(250);
/// After a long interruption there may be much to read.
const CATCH_UP: Duration = Duration::from_secs(60);
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// The table holds ten minutes, and only the end of each lane is wanted: by its key, against the planner's guesses.
const SESSION: &str = "SET enable_seqscan = off; SET enable_bitmapscan = off; SET jit = off; \
     SET statement_timeout = '60s'; LISTEN countersign_news";

/// One statement, hence one snapshot of all lanes: the predecessors of a signal are seen with it. `OFFSET 0` keeps the
/// planner from reading all signals and looking up the lane of each.
const UNSEEN: &str = "WITH behind AS MATERIALIZED (\
       SELECT lanes.lane, coalesce(seen.pos, 0) AS pos FROM lanes \
       LEFT JOIN unnest($1::bigint[], $2::bigint[]) AS seen (lane, pos) ON seen.lane = lanes.lane \
       WHERE lanes.next_news > coalesce(seen.pos, 0) + 1) \
     SELECT behind.lane, unseen.pos, unseen.doc FROM behind CROSS JOIN LATERAL (\
       SELECT news.pos, news.doc FROM news WHERE news.lane = behind.lane AND news.pos > behind.pos OFFSET 0) AS unseen \
     ORDER BY behind.lane, unseen.pos";

const ENDS: &str = "SELECT lane, next_news - 1 FROM lanes";

#[derive(Clone)]
pub(super) struct Feed {
    listeners: Listeners,
    wake: Arc<Notify>,
    feed_freshness: FeedFreshness,
}

/// Follows the other nodes until it is dropped.
pub(super) struct FeedTask(AbortHandle);

impl Feed {
    pub(super) fn listeners(&self) -> &Listeners {
        &self.listeners
    }

    /// To be called before the lanes' ends are read: from then on nothing is missed.
    pub(super) fn begin() -> Self {
        Self {
            listeners: Listeners::default(),
            wake: Arc::default(),
            feed_freshness: FeedFreshness::starting_at(monotonic()),
        }
    }

    pub(super) fn feed_freshness(&self) -> FeedFreshness {
        self.feed_freshness.clone()
    }

    /// Begins at the present end of each lane. A lane that is created later is read from its beginning.
    pub(super) async fn start_at_end(&self, connection: &mut PooledConnection) -> Result<(), StoreFailure> {
        let ends = connection.query(ENDS, &[]).await?;
        let ends = ends.iter().map(|row| Ok((row.int(0)?, row.int(1)?))).collect::<Result<Vec<_>, StoreFailure>>()?;
        self.listeners.start_after(ends);
        Ok(())
    }

    pub(super) fn follow(&self, way: Dialer) -> FeedTask {
        let feed = self.clone();
        let task = tokio::spawn(async move { feed.follow_with_retries(way).await });
        FeedTask(task.abort_handle())
    }

    /// Passes on the writer's own signals after its commit.
    pub(super) fn publish(&self, standing: &FeedPosition, news: signals::Batch) {
        if !news.is_empty() && !self.listeners.publish_own(standing, news) {
            self.wake.notify_one();
        }
    }

    async fn follow_with_retries(&self, way: Dialer) {
        let mut pause = FIRST_PAUSE;
        loop {
            let Err(why) = self.follow_once(&way, &mut pause).await;
            tracing::warn!(%why, "the signals of other nodes cannot be read; retrying");
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn follow_once(&self, way: &Dialer, pause: &mut Duration) -> Result<Infallible, StoreFailure> {
        let client = with_timeout(way.listen(self.wake.clone())).await?;
        let unseen = with_timeout(async {
            client.batch_execute(SESSION).await.map_err(failure)?;
            client.prepare(UNSEEN).await.map_err(failure)
        });
        let unseen = unseen.await?;
        loop {
            self.read(&client, &unseen).await?;
            *pause = FIRST_PAUSE;
            let _woken_or_time_to_look = tokio::time::timeout(LOOK, self.wake.notified()).await;
        }
    }

    async fn read(&self, client: &Client, unseen: &Statement) -> Result<(), StoreFailure> {
        let start = monotonic();
        let (lanes, positions) = self.listeners.positions();
        let late = |_| StoreFailure::Lost("PostgreSQL does not answer".into());
        let rows = tokio::time::timeout(CATCH_UP, client.query(unseen, &[&lanes, &positions])).await.map_err(late)?;
        let heard = self.listeners.has_listeners();
        let found = rows.map_err(failure)?.iter().map(|row| placed(row, heard)).collect::<Result<Vec<_>, _>>();
        self.listeners.publish_found(found.map_err(failure)?, Some(start));
        Ok(())
    }
}

fn placed(row: &Row, heard: bool) -> Result<PlacedSignal, tokio_postgres::Error> {
    let (lane, pos) = (row.try_get(0)?, row.try_get(1)?);
    let doc: &str = row.try_get(2)?;
    let news = if heard { parse_signal(doc) } else { None };
    Ok(PlacedSignal { lane, pos, news })
}

/// A node of a newer version may send signals that this one does not know; they must not hold up the rest.
fn parse_signal(doc: &str) -> Option<Arc<Signal>> {
    let news = serde_json::from_str(doc);
    news.map(Arc::new).inspect_err(|why| tracing::warn!(%why, "a signal of another node is not understood")).ok()
}

impl FeedTask {
    pub(super) fn end(&self) {
        self.0.abort();
    }
}

impl Drop for FeedTask {
    fn drop(&mut self) {
        self.end();
    }
}
