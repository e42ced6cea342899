//! How PostgreSQL does a batch: everything that can be is sent at once, so that a batch without changed rows
//! is two round trips.

use super::{
    connection::{commit_failure, failure, patiently, refs},
    node::Node,
    statements as text,
};
use crate::store::{
    batch::{Gains, Head, Tally, Tx, Wants, World},
    error::Failure,
    sql::Sql as _,
    step::{Change, Needs},
    tables,
};
use countersign_core::records::Table;
use countersign_protocol::hash::Digest;
use futures_util::future::{join, join_all};
use std::collections::{HashMap, HashSet};
use tokio_postgres::{Row, Statement, error::SqlState, types::ToSql};

impl Tx for Node {
    async fn ready(&mut self) -> Result<(), Failure> {
        self.make_ready().await
    }

    async fn load(&mut self, wants: &Wants<'_>) -> Result<World, Failure> {
        self.connection.set_in_transaction(true);
        let loaded = patiently(self.load_all(wants)).await?;
        let Some(loaded) = loaded else {
            self.lane = None;
            return Err(Failure::Again("this node's lane was taken over by another".into()));
        };
        self.held = loaded.held;
        Ok(loaded.world)
    }

    async fn apply(&mut self, changes: &[Change]) -> Result<bool, Failure> {
        patiently(self.write_rows(changes)).await
    }

    async fn flush(&mut self, gains: &Gains<'_>) -> Result<(), Failure> {
        let unknown = |why| match why {
            Failure::Lost(why) => Failure::Unknown(format!("whether the commit happened is not known: {why}")),
            other => other,
        };
        let bulk = patiently(self.bulk_of(gains)).await?;
        patiently(self.write_bulk(&bulk)).await.map_err(unknown)?;
        self.connection.set_in_transaction(false);
        Ok(())
    }

    async fn beat(&mut self) -> Result<(), Failure> {
        self.renew_lane().await
    }

    async fn close(&mut self) {
        if let Some(lane) = self.lane.take() {
            let _best_effort = lane.release(&mut self.connection).await;
        }
    }
}

struct Loaded {
    world: World,
    held: Vec<(String, i64)>,
}

type Params<'a> = Vec<&'a (dyn ToSql + Sync)>;

impl Node {
    /// None if the lane is no longer ours.
    async fn load_all(&self, wants: &Wants<'_>) -> Result<Option<Loaded>, Failure> {
        let Some(lane) = &self.lane else { return Ok(None) };
        let ask = Ask::of(lane.number, wants);
        let mut sent = Vec::new();
        for question in ask.questions() {
            sent.push((question.0, self.connection.prepare(&question.1).await?, question.2));
        }
        let client = self.connection.client()?;
        let answers = join_all(sent.iter().map(|(_, statement, params)| client.query(statement, params)));
        let (begun, answers) = join(client.batch_execute("BEGIN"), answers).await;
        begun.map_err(failure)?;
        let mut loaded = Loaded { world: World::empty(), held: Vec::new() };
        for ((about, _, _), rows) in sent.iter().zip(answers) {
            let rows = rows.map_err(failure)?;
            if !loaded.take(*about, &rows, wants, &lane.owner).map_err(failure)? {
                return Ok(None);
            }
        }
        Ok(Some(loaded))
    }

    async fn write_rows(&self, changes: &[Change]) -> Result<bool, Failure> {
        let mut sent = Vec::new();
        for change in changes {
            for (index, statement) in change.statements.iter().enumerate() {
                let must = index == 0 && change.needs != Needs::Anything;
                sent.push((self.connection.prepare(statement.sql).await?, refs(&statement.params), must));
            }
        }
        let client = self.connection.client()?;
        let written = join_all(sent.iter().map(|(statement, params, _)| client.execute(statement, params)));
        // An insert that finds its place taken changes nothing and fails nothing.
        let insert_alone = sent.len() == 1 && changes.iter().all(|change| change.needs == Needs::Absent);
        if insert_alone {
            return fits(&sent, written.await);
        }
        let (saved, written) = join(client.batch_execute("SAVEPOINT step"), written).await;
        saved.map_err(failure)?;
        let fits = fits(&sent, written)?;
        let end = if fits { "RELEASE SAVEPOINT step" } else { "ROLLBACK TO SAVEPOINT step; RELEASE SAVEPOINT step" };
        self.connection.batch(end).await?;
        Ok(fits)
    }

    /// The statements that write the gains, prepared.
    async fn bulk_of<'a>(&self, gains: &'a Gains<'a>) -> Result<Bulk<'a>, Failure> {
        let lane = self.lane.as_ref().map_or(0, |lane| lane.number);
        let mut bulk = Bulk::of(lane, gains, &self.held);
        for (sql, _) in &bulk.writes {
            bulk.statements.push(self.connection.prepare(sql).await?);
        }
        Ok(bulk)
    }

    /// Sends the gains and the commit together: if any of them fails, the commit undoes all.
    async fn write_bulk(&self, bulk: &Bulk<'_>) -> Result<(), Failure> {
        let client = self.connection.client()?;
        let params: Vec<Params<'_>> = bulk.writes.iter().map(|(_, p)| p.iter().map(|p| &**p as _).collect()).collect();
        let writes = join_all(bulk.statements.iter().zip(&params).map(|(s, params)| client.execute(s, params)));
        let (written, committed) = join(writes, client.batch_execute("COMMIT")).await;
        for write in written {
            write.map_err(failure)?;
        }
        committed.map_err(commit_failure)
    }
}

/// Whether each row was as it had to be; a unique column that is taken is no error of the batch.
fn fits(
    sent: &[(Statement, Params<'_>, bool)],
    written: Vec<Result<u64, tokio_postgres::Error>>,
) -> Result<bool, Failure> {
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

#[derive(Clone, Copy)]
enum About {
    Lane,
    Versions(Table),
    Nothing,
    Counts,
    Once,
    Heads,
}

/// The parameters of the questions, kept while they are under way.
struct Ask<'a> {
    lane: i64,
    rows: Vec<(Table, bool, Vec<i64>)>,
    counts: (Vec<&'a str>, Vec<i64>),
    once: (Vec<&'a str>, Vec<i64>),
    projects: Vec<i64>,
}

impl<'a> Ask<'a> {
    fn of(lane: i64, wants: &Wants<'a>) -> Self {
        Self {
            lane,
            rows: wants
                .rows
                .iter()
                .map(|(t, rows)| (*t, rows.exclusive, rows.keys.iter().copied().collect()))
                .collect(),
            counts: wants.counts.iter().map(|(key, until)| (*key, *until)).unzip(),
            once: wants.once.iter().map(|(key, until)| (*key, *until)).unzip(),
            projects: wants.projects.iter().copied().collect(),
        }
    }

    /// In the order of locking: our lane, rows by table and key, counters, once-keys.
    fn questions(&self) -> Vec<(About, String, Params<'_>)> {
        let mut all: Vec<(About, String, Params<'_>)> = vec![(About::Lane, text::LANE.into(), vec![&self.lane])];
        for (table, exclusive, keys) in &self.rows {
            let lock = if *exclusive { "FOR UPDATE" } else { "FOR SHARE" };
            all.push((About::Versions(*table), format!("{} {lock}", tables::texts(*table).versions), vec![keys]));
        }
        if !self.counts.0.is_empty() {
            all.push((About::Nothing, text::MAKE_COUNTS.into(), vec![&self.counts.0, &self.counts.1]));
            all.push((About::Counts, text::LOCK_COUNTS.into(), vec![&self.counts.0]));
        }
        if !self.once.0.is_empty() {
            all.push((About::Once, text::TAKE_ONCE.into(), vec![&self.once.0, &self.once.1]));
        }
        if !self.projects.is_empty() {
            all.push((About::Heads, text::HEADS.into(), vec![&self.lane, &self.projects]));
        }
        all
    }
}

impl World {
    fn empty() -> Self {
        Self {
            now: 0,
            versions: HashMap::new(),
            counts: HashMap::new(),
            spent: HashMap::new(),
            next_pos: 0,
            heads: HashMap::new(),
        }
    }
}

impl Loaded {
    /// Takes one answer in; false if it says that the lane is not ours.
    fn take(
        &mut self,
        about: About,
        rows: &[Row],
        wants: &Wants<'_>,
        owner: &str,
    ) -> Result<bool, tokio_postgres::Error> {
        match about {
            About::Lane => return self.take_lane(rows, owner),
            About::Nothing => {}
            About::Once => self.take_once(rows, wants)?,
            About::Versions(table) => {
                for row in rows {
                    self.world.versions.insert((table, row.try_get(0)?), row.try_get(1)?);
                }
            }
            About::Counts => {
                for row in rows {
                    let tally = Tally { value: row.try_get(1)?, until: row.try_get(2)? };
                    self.world.counts.insert(row.try_get(0)?, tally);
                }
            }
            About::Heads => {
                for row in rows {
                    let head = Head { next_seq: row.try_get(1)?, chain: digest(row.try_get(2)?) };
                    self.world.heads.insert(row.try_get(0)?, head);
                }
            }
        }
        Ok(true)
    }

    fn take_lane(&mut self, rows: &[Row], owner: &str) -> Result<bool, tokio_postgres::Error> {
        let Some(row) = rows.first() else { return Ok(false) };
        (self.world.next_pos, self.world.now) = (row.try_get(1)?, row.try_get(2)?);
        Ok(row.try_get::<_, &str>(0)? == owner)
    }

    /// What was not given to us is another's, for how long does not matter here.
    fn take_once(&mut self, rows: &[Row], wants: &Wants<'_>) -> Result<(), tokio_postgres::Error> {
        let ours = rows.iter().map(|row| row.try_get(0)).collect::<Result<HashSet<&str>, _>>()?;
        for (key, until) in &wants.once {
            if ours.contains(key) {
                self.held.push(((*key).to_owned(), *until));
            } else {
                self.world.spent.insert((*key).to_owned(), i64::MAX);
            }
        }
        Ok(())
    }
}

fn digest(bytes: &[u8]) -> Digest {
    bytes.try_into().map_or(Digest([0; 32]), Digest)
}

/// Everything that a batch gained, as a few statements over arrays.
struct Bulk<'a> {
    writes: Vec<(&'static str, Vec<Box<dyn ToSql + Sync + Send + 'a>>)>,
    statements: Vec<Statement>,
}

impl<'a> Bulk<'a> {
    fn of(lane: i64, gains: &'a Gains<'a>, held: &[(String, i64)]) -> Self {
        let mut bulk = Self { writes: Vec::new(), statements: Vec::new() };
        bulk.add_counts(gains);
        bulk.add_once(gains, held);
        bulk.add_evidence(lane, gains);
        bulk
    }

    fn add_counts(&mut self, gains: &'a Gains<'a>) {
        if gains.counts.is_empty() {
            return;
        }
        let keys: Vec<&str> = gains.counts.keys().copied().collect();
        let values: Vec<i64> = gains.counts.values().map(|tally| tally.value).collect();
        let untils: Vec<i64> = gains.counts.values().map(|tally| tally.until).collect();
        self.writes.push((text::WRITE_COUNTS, vec![Box::new(keys), Box::new(values), Box::new(untils)]));
    }

    /// The keys are written already; those of steps that failed are given back.
    fn add_once(&mut self, gains: &'a Gains<'a>, held: &[(String, i64)]) {
        let unspent = held.iter().filter(|(key, _)| !gains.once.contains_key(key.as_str()));
        let unspent: Vec<String> = unspent.map(|(key, _)| key.clone()).collect();
        if !unspent.is_empty() {
            self.writes.push((text::GIVE_BACK_ONCE, vec![Box::new(unspent)]));
        }
        let differs = |(key, until): &&(String, i64)| gains.once.get(key.as_str()).is_some_and(|u| u != until);
        let corrected = held.iter().filter(differs).map(|(key, _)| key.clone());
        let (keys, untils): (Vec<String>, Vec<i64>) =
            corrected.filter_map(|key| gains.once.get(key.as_str()).map(|until| (key.clone(), *until))).unzip();
        if !keys.is_empty() {
            self.writes.push((text::CORRECT_ONCE, vec![Box::new(keys), Box::new(untils)]));
        }
    }

    fn add_evidence(&mut self, lane: i64, gains: &'a Gains<'a>) {
        if gains.entries.is_empty() {
            return;
        }
        let entries = &gains.entries;
        self.writes.push((
            text::EVIDENCE,
            vec![
                Box::new(lane),
                Box::new(entries.iter().map(|e| e.pos).collect::<Vec<_>>()),
                Box::new(entries.iter().map(|e| e.entry.project).collect::<Vec<_>>()),
                Box::new(entries.iter().map(|e| e.seq).collect::<Vec<_>>()),
                Box::new(entries.iter().map(|e| e.entry.at).collect::<Vec<_>>()),
                Box::new(entries.iter().map(|e| e.entry.event_type).collect::<Vec<_>>()),
                Box::new(entries.iter().map(|e| e.entry.delegation).collect::<Vec<_>>()),
                Box::new(entries.iter().map(|e| e.entry.session).collect::<Vec<_>>()),
                Box::new(entries.iter().map(|e| e.entry.leaf.as_slice()).collect::<Vec<_>>()),
                Box::new(entries.iter().map(|e| e.entry.hash.0.as_slice()).collect::<Vec<_>>()),
            ],
        ));
        let (positions, openings): (Vec<i64>, Vec<&str>) =
            entries.iter().filter_map(|e| Some((e.pos, e.entry.openings.as_deref()?))).unzip();
        self.writes.push((text::OPENINGS, vec![Box::new(lane), Box::new(positions), Box::new(openings)]));
        self.add_heads(lane, gains);
    }

    fn add_heads(&mut self, lane: i64, gains: &'a Gains<'a>) {
        let projects: Vec<i64> = gains.heads.keys().copied().collect();
        let seqs: Vec<i64> = gains.heads.values().map(|head| head.next_seq).collect();
        let chains: Vec<&[u8]> = gains.heads.values().map(|head| head.chain.0.as_slice()).collect();
        let heads: Vec<Box<dyn ToSql + Sync + Send + 'a>> =
            vec![Box::new(lane), Box::new(projects), Box::new(seqs), Box::new(chains)];
        self.writes.push((text::WRITE_HEADS, heads));
        self.writes.push((text::WRITE_LANE, vec![Box::new(gains.next_pos), Box::new(lane)]));
    }
}
