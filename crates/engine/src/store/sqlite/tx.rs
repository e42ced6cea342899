//! Batches on SQLite: statement by statement, since a statement costs microseconds here.

use super::connection::{SqliteConnection, failure};
use crate::store::{
    Outcome,
    batch::{Gains, Head, PlacedLeaf, Tally, Tx, Wants, World},
    error::{StoreError, StoreFailure},
    maintenance::{self, MaintenanceJob},
    signals::{self, FeedPosition},
    sql::{Sql as _, SqlValue},
    step::{Needs, Ready, RowChange},
    tables,
};
use rusqlite::{ffi, params};
use std::collections::HashMap;

/// There is one writer, so there is one lane.
pub(super) const LANE: i64 = 0;

impl Tx for SqliteConnection {
    async fn ready(&mut self) -> Result<(), StoreFailure> {
        Ok(())
    }

    async fn load(&mut self, wants: &Wants<'_>) -> Result<World, StoreFailure> {
        self.check_files()?;
        let mut world = self.load_all(wants).map_err(failure)?;
        self.proofs.drop_expired(world.now);
        world.proofs = self.proofs.spent_among(&wants.proofs);
        Ok(world)
    }

    async fn apply(&mut self, changes: &[RowChange]) -> Result<bool, StoreFailure> {
        let alone = changes.iter().map(|change| change.statements.len()).sum::<usize>() == 1;
        if alone {
            // A statement that fails undoes itself.
            return self.write(changes).map_err(failure);
        }
        self.run("SAVEPOINT step", &[]).map_err(failure)?;
        let written = self.write(changes).map_err(failure)?;
        if !written {
            self.run("ROLLBACK TO step", &[]).map_err(failure)?;
        }
        self.run("RELEASE step", &[]).map_err(failure)?;
        Ok(written)
    }

    async fn flush(&mut self, gains: &Gains<'_>) -> Result<(), StoreFailure> {
        let written = self.write_and_commit(gains).await;
        // A commit with an unknown end may have happened, so its proofs count as spent.
        if let Ok(()) | Err(StoreFailure::Unknown(_)) = &written {
            self.proofs.insert(&gains.proofs, gains.now);
        }
        // The content of the file is not known after a commit with an unknown end.
        if written.is_err() {
            self.known.clear();
            self.clear_records();
        }
        written
    }

    fn cache_records(&mut self, steps: &[&Ready], outcomes: &[Outcome]) {
        let committed = steps.iter().zip(outcomes).filter(|(_, outcome)| **outcome == Outcome::Committed);
        for change in committed.flat_map(|(step, _)| &step.changes) {
            match change.becomes {
                Some(version) => self.known.insert_version(change.row, version),
                None => self.known.invalidate(change.row),
            }
        }
        if let Some(records) = &self.records {
            records.apply(steps, outcomes);
        }
    }

    fn publish(&mut self, _: &FeedPosition, news: signals::Batch) {
        self.listeners.publish(news);
    }

    async fn abort(&mut self) {
        self.rollback().await;
    }

    async fn maintain(&mut self, job: MaintenanceJob) -> Result<u64, StoreError> {
        let done = maintenance::run(self, job.clone()).await;
        match &self.records {
            Some(records) if !matches!(done, Ok(0)) => records.forget_after(&job),
            _ => {}
        }
        done
    }

    async fn heartbeat(&mut self) -> Result<(), StoreFailure> {
        self.proofs.drop_expired(self.clock.now());
        if let Some(watch) = &self.watch {
            let _known_by_health = watch.check_header();
        }
        Ok(())
    }

    async fn close(&mut self) {
        if self.alone {
            let _best_effort = self.inner.execute_batch("PRAGMA optimize; PRAGMA wal_checkpoint(TRUNCATE)");
        }
        if let Some(mut keeper) = self.keeper.take() {
            keeper.close(self).await;
        }
    }
}

impl SqliteConnection {
    fn clear_records(&self) {
        if let Some(records) = &self.records {
            records.clear();
        }
    }

    fn load_all(&mut self, wants: &Wants<'_>) -> rusqlite::Result<World> {
        self.run("BEGIN IMMEDIATE", &[])?;
        let data_version = self.inner.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        if self.known.clear_if_changed(data_version) {
            self.clear_records();
        }
        let (next_pos, commits) = self.load_lane()?;
        Ok(World {
            now: self.clock.now(),
            versions: self.load_versions(wants)?,
            counts: self.load_counts(wants)?,
            spent: self.load_spent(wants)?,
            next_pos,
            commits,
            heads: self.load_heads(wants)?,
            ..World::default()
        })
    }

    fn load_lane(&self) -> rusqlite::Result<(i64, i64)> {
        match self.known.lane() {
            Some(lane) => Ok(lane),
            None => {
                let mut statement = self.inner.prepare_cached("SELECT next_pos, commits FROM lanes WHERE lane = ?1")?;
                statement.query_row([LANE], |row| Ok((row.get(0)?, row.get(1)?)))
            }
        }
    }

    fn load_versions(
        &mut self,
        wants: &Wants<'_>,
    ) -> rusqlite::Result<HashMap<(countersign_core::records::Table, i64), i64>> {
        let Self { inner, known, .. } = self;
        let mut versions = HashMap::new();
        let wanted = wants.rows.iter().flat_map(|(table, rows)| rows.keys.iter().map(|key| (*table, *key)));
        for row in wanted {
            if let Some(version) = known.version(row) {
                versions.insert(row, version);
                continue;
            }
            let mut statement = inner.prepare_cached(&tables::statements_of(row.0).version)?;
            if let Some(version) = first(statement.query_map([row.1], |row| row.get(0))?)? {
                known.insert_version(row, version);
                versions.insert(row, version);
            }
        }
        Ok(versions)
    }

    fn load_counts(&mut self, wants: &Wants<'_>) -> rusqlite::Result<HashMap<String, Tally>> {
        let Self { inner, known, .. } = self;
        let mut counts = HashMap::new();
        for key in &wants.counts {
            if let Some(tally) = known.tally(key) {
                counts.insert((*key).to_owned(), tally);
                continue;
            }
            let mut statement = inner.prepare_cached("SELECT value, until FROM counts WHERE key = ?1")?;
            let tally = |row: &rusqlite::Row<'_>| Ok(Tally { value: row.get(0)?, until: row.get(1)? });
            // An expired counter equals none, and is remembered as well as any other.
            let tally = first(statement.query_map([key], tally)?)?.unwrap_or(Tally { value: 0, until: 0 });
            known.insert_tally(key, tally);
            counts.insert((*key).to_owned(), tally);
        }
        Ok(counts)
    }

    fn load_spent(&self, wants: &Wants<'_>) -> rusqlite::Result<HashMap<String, i64>> {
        let mut spent = HashMap::new();
        for key in wants.once.keys() {
            let mut statement = self.inner.prepare_cached("SELECT until FROM once_keys WHERE key = ?1")?;
            if let Some(until) = first(statement.query_map([key], |row| row.get(0))?)? {
                spent.insert((*key).to_owned(), until);
            }
        }
        Ok(spent)
    }

    fn load_heads(&self, wants: &Wants<'_>) -> rusqlite::Result<HashMap<i64, Head>> {
        let text = "SELECT next_seq, chain FROM lane_heads WHERE project = ?1 AND lane = ?2";
        let mut heads = HashMap::new();
        for project in &wants.projects {
            if let Some(head) = self.known.head(*project) {
                heads.insert(*project, head);
                continue;
            }
            let mut statement = self.inner.prepare_cached(text)?;
            let head = |row: &rusqlite::Row<'_>| {
                Ok(Head { next_seq: row.get(0)?, chain: countersign_protocol::hash::Digest(row.get(1)?) })
            };
            if let Some(head) = first(statement.query_map([*project, LANE], head)?)? {
                heads.insert(*project, head);
            }
        }
        Ok(heads)
    }

    fn write(&mut self, changes: &[RowChange]) -> rusqlite::Result<bool> {
        for change in changes {
            self.known.invalidate(change.row);
            for (index, statement) in change.statements.iter().enumerate() {
                let touched = match self.run(statement.sql, &statement.params) {
                    Err(error) if is_unique_violation(&error) => 0,
                    touched => touched?,
                };
                if touched == 0 && index == 0 && change.needs != Needs::Anything {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Proofs are kept in memory and need no disk.
    async fn write_and_commit(&mut self, gains: &Gains<'_>) -> Result<(), StoreFailure> {
        if gains.writes_nothing() {
            self.rollback().await;
            return Ok(());
        }
        self.write_gains(gains).map_err(failure)?;
        self.commit().await?;
        self.known.store_gains(gains);
        if let Some(keeper) = &mut self.keeper {
            keeper.advance(LANE, gains);
        }
        Ok(())
    }

    fn write_gains(&self, gains: &Gains<'_>) -> rusqlite::Result<()> {
        self.write_counts(gains)?;
        self.write_once(gains)?;
        self.write_evidence(&gains.entries)?;
        self.write_feed(&gains.entries)?;
        self.write_heads(gains)
    }

    /// Mostly a counter exists and keeps its expiry; then the index by expiry is not touched.
    fn write_counts(&self, gains: &Gains<'_>) -> rusqlite::Result<()> {
        if gains.counts.is_empty() {
            return Ok(());
        }
        let mut raise = self.inner.prepare_cached("UPDATE counts SET value = ?2 WHERE key = ?1 AND until = ?3")?;
        let write = "INSERT INTO counts (key, value, until) VALUES (?1, ?2, ?3) \
             ON CONFLICT (key) DO UPDATE SET value = excluded.value, until = excluded.until";
        for (key, tally) in &gains.counts {
            if raise.execute(params![key, tally.value, tally.until])? == 0 {
                self.inner.prepare_cached(write)?.execute(params![key, tally.value, tally.until])?;
            }
        }
        Ok(())
    }

    fn write_once(&self, gains: &Gains<'_>) -> rusqlite::Result<()> {
        if gains.once.is_empty() {
            return Ok(());
        }
        let mut statement = self.inner.prepare_cached(
            "INSERT INTO once_keys (key, until) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET until = excluded.until",
        )?;
        gains.once.iter().try_for_each(|(key, until)| statement.execute(params![key, until]).map(|_| ()))
    }

    fn write_evidence(&self, entries: &[PlacedLeaf<'_>]) -> rusqlite::Result<()> {
        if entries.is_empty() {
            return Ok(());
        }
        let mut lines = self.inner.prepare_cached(
            "INSERT INTO evidence (lane, pos, project, seq, at, event_type, delegation, session, leaf, hash) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )?;
        let mut openings =
            self.inner.prepare_cached("INSERT INTO evidence_openings (lane, pos, openings) VALUES (?1, ?2, ?3)")?;
        for PlacedLeaf { pos, seq, entry } in entries {
            lines.execute(params![
                LANE,
                pos,
                entry.project,
                seq,
                entry.at,
                entry.event_type,
                entry.delegation,
                entry.session,
                entry.leaf,
                entry.hash.0,
            ])?;
            if let Some(text) = &entry.openings {
                openings.execute(params![LANE, pos, text])?;
            }
        }
        Ok(())
    }

    /// Mostly there is nothing to pass on.
    fn write_feed(&self, entries: &[PlacedLeaf<'_>]) -> rusqlite::Result<()> {
        let mut told_on = entries.iter().filter(|placed| placed.entry.told_on).peekable();
        if told_on.peek().is_none() {
            return Ok(());
        }
        let text = "INSERT INTO feed (project, lane, pos) VALUES (?1, ?2, ?3)";
        let mut statement = self.inner.prepare_cached(text)?;
        for PlacedLeaf { pos, entry, .. } in told_on {
            statement.execute(params![entry.project, LANE, pos])?;
        }
        Ok(())
    }

    fn write_heads(&self, gains: &Gains<'_>) -> rusqlite::Result<()> {
        let mut statement = self.inner.prepare_cached(
            "INSERT INTO lane_heads (project, lane, next_seq, chain) VALUES (?1, ?2, ?3, ?4) \
             ON CONFLICT (project, lane) DO UPDATE SET next_seq = excluded.next_seq, chain = excluded.chain",
        )?;
        for (project, head) in &gains.heads {
            statement.execute(params![project, LANE, head.next_seq, head.chain.0])?;
        }
        let lane = [gains.next_pos.into(), gains.now.into(), gains.commits.into(), SqlValue::Int(LANE)];
        self.run("UPDATE lanes SET next_pos = $1, heartbeat = $2, commits = $3 WHERE lane = $4", &lane).map(|_| ())
    }
}

/// Whether a unique column has this value already.
fn is_unique_violation(error: &rusqlite::Error) -> bool {
    let taken = [ffi::SQLITE_CONSTRAINT_UNIQUE, ffi::SQLITE_CONSTRAINT_PRIMARYKEY, ffi::SQLITE_CONSTRAINT_ROWID];
    error.sqlite_error().is_some_and(|error| taken.contains(&error.extended_code))
}

fn first<T>(mut rows: impl Iterator<Item = rusqlite::Result<T>>) -> rusqlite::Result<Option<T>> {
    rows.next().transpose()
}
