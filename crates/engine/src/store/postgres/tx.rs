//! Batches on PostgreSQL: as much as possible is sent at once, so that a batch without changed rows takes two round trips.

use super::{
    connection::{failure, refs, with_timeout},
    load::Params,
    node::NodeRow,
};
use crate::store::{
    batch::{Gains, Tx, Wants, World},
    error::{StoreError, StoreFailure},
    maintenance::{self, MaintenanceJob},
    signals::{self, FeedPosition},
    sql::Sql as _,
    step::{Needs, RowChange},
};
use futures_util::future::{join, join_all};
use tokio_postgres::{Statement, error::SqlState};

impl Tx for NodeRow {
    async fn ready(&mut self) -> Result<(), StoreFailure> {
        self.reconnect().await
    }

    async fn load(&mut self, wants: &Wants<'_>) -> Result<World, StoreFailure> {
        self.connection.set_in_transaction(true);
        self.in_step = false;
        let loaded = with_timeout(self.load_all(wants)).await;
        let Some(loaded) = self.discard_if_lost(loaded)? else {
            self.lane = None;
            return Err(StoreFailure::Again("this node's lane was taken over by another".into()));
        };
        self.check_commits(loaded.world.standing.lane, loaded.world.commits)?;
        (self.held, self.held_proofs) = (loaded.held, loaded.held_proofs);
        Ok(loaded.world)
    }

    async fn apply(&mut self, changes: &[RowChange]) -> Result<bool, StoreFailure> {
        let written = with_timeout(self.write_rows(changes)).await;
        self.discard_if_lost(written)
    }

    async fn flush(&mut self, gains: &Gains<'_>) -> Result<(), StoreFailure> {
        let bulk = with_timeout(self.bulk_of(gains)).await;
        let bulk = self.discard_if_lost(bulk)?;
        let unknown = |why| match why {
            StoreFailure::Lost(why) => {
                StoreFailure::Unknown(format!("whether the commit happened is not known: {why}"))
            }
            other => other,
        };
        let written = with_timeout(self.write_bulk(&bulk)).await.map_err(unknown);
        self.discard_if_lost(written)?;
        self.connection.set_in_transaction(false);
        self.advance_position(gains);
        Ok(())
    }

    fn publish(&mut self, standing: &FeedPosition, news: signals::Batch) {
        self.feed.publish(standing, news);
    }

    async fn abort(&mut self) {
        self.connection.rollback().await;
    }

    async fn maintain(&mut self, job: MaintenanceJob) -> Result<u64, StoreError> {
        maintenance::run(&mut self.connection, job).await
    }

    async fn heartbeat(&mut self) -> Result<(), StoreFailure> {
        self.renew_lane().await
    }

    async fn close(&mut self) {
        if let Some(lane) = self.lane.take() {
            let _best_effort = lane.release(&mut self.connection).await;
        }
        self.close_keeper().await;
    }
}

impl NodeRow {
    /// A connection with a missing response is discarded.
    fn discard_if_lost<T>(&mut self, answer: Result<T, StoreFailure>) -> Result<T, StoreFailure> {
        if let Err(StoreFailure::Lost(_) | StoreFailure::Unknown(_)) = &answer {
            self.connection.discard();
        }
        answer
    }

    async fn write_rows(&mut self, changes: &[RowChange]) -> Result<bool, StoreFailure> {
        let mut sent = Vec::new();
        for change in changes {
            for (index, statement) in change.statements.iter().enumerate() {
                let must = index == 0 && change.needs != Needs::Anything;
                sent.push((self.connection.prepare(statement.sql).await?, refs(&statement.params), must));
            }
        }
        let begin = if self.in_step { "RELEASE SAVEPOINT step; SAVEPOINT step" } else { "SAVEPOINT step" };
        let client = self.connection.client()?;
        let written = join_all(sent.iter().map(|(statement, params, _)| client.execute(statement, params)));
        // An insert that meets a conflict changes nothing and fails nothing.
        let insert_alone = sent.len() == 1 && changes.iter().all(|change| change.needs == Needs::Absent);
        if insert_alone {
            return all_rows_written(&sent, written.await);
        }
        let (saved, written) = join(client.batch_execute(begin), written).await;
        saved.map_err(failure)?;
        let fits = all_rows_written(&sent, written)?;
        // The end of a step that fits goes with the next step, or with the commit, without a round trip of its own.
        if !fits {
            self.connection.batch("ROLLBACK TO SAVEPOINT step; RELEASE SAVEPOINT step").await?;
        }
        drop(sent);
        self.in_step = fits;
        Ok(fits)
    }
}

/// Whether each row met its condition; a taken unique column is no error of the batch.
fn all_rows_written(
    sent: &[(Statement, Params<'_>, bool)],
    written: Vec<Result<u64, tokio_postgres::Error>>,
) -> Result<bool, StoreFailure> {
    for ((_, _, must), touched) in sent.iter().zip(written) {
        match touched {
            Err(taken) if taken.code() == Some(&SqlState::UNIQUE_VIOLATION) => return Ok(false),
            Err(why) => return Err(failure(why)),
            Ok(0) if *must => return Ok(false),
            Ok(_) => {}
        }
    }
    Ok(true)
}
