//! Loading and locking everything that a batch depends on, in one round trip.

use super::{
    connection::failure,
    node::NodeRow,
    proofs::{SLOTS, slot},
    statements as text,
};
use crate::store::{
    batch::{Head, Tally, Wants, World},
    error::StoreFailure,
    proofs::StoredProof,
    tables,
};
use countersign_core::records::Table;
use countersign_protocol::hash::Digest;
use futures_util::future::{join, join_all};
use std::collections::{BTreeSet, HashSet};
use tokio_postgres::{Row, types::ToSql};

pub(super) type Params<'a> = Vec<&'a (dyn ToSql + Sync)>;

pub(super) struct Loaded {
    pub(super) world: World,
    /// The once-keys that this node holds while the transaction is open, with their expiry.
    pub(super) held: Vec<(String, i64)>,
    pub(super) held_proofs: Vec<StoredProof>,
}

impl NodeRow {
    /// None if this node has lost the lane.
    pub(super) async fn load_all(&self, wants: &Wants<'_>) -> Result<Option<Loaded>, StoreFailure> {
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
        let mut loaded = Loaded { world: World::default(), held: Vec::new(), held_proofs: Vec::new() };
        loaded.world.standing.lane = lane.number;
        for ((about, _, _), rows) in sent.iter().zip(answers) {
            let rows = rows.map_err(failure)?;
            if !loaded.take(*about, &rows, wants, &lane.owner).map_err(failure)? {
                return Ok(None);
            }
        }
        Ok(Some(loaded))
    }
}

#[derive(Clone, Copy)]
enum LoadSubject {
    Lane,
    Versions(Table),
    Nothing,
    Counts,
    Once,
    Proofs(usize),
    Heads,
    Others,
}

/// The parameters of the queries, kept while they are in progress.
struct Ask<'a> {
    lane: i64,
    rows: Vec<(Table, bool, Vec<i64>)>,
    counts: Vec<&'a str>,
    raised: Vec<&'a str>,
    once: (Vec<&'a str>, Vec<i64>),
    /// By their slot in the ring, each in the order that all nodes use.
    proofs: [Vec<&'a [u8]>; SLOTS],
    projects: Vec<i64>,
    others: bool,
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
            counts: wants.counts.iter().copied().collect(),
            raised: wants.raised.iter().copied().collect(),
            once: wants.once.iter().map(|(key, until)| (*key, *until)).unzip(),
            proofs: std::array::from_fn(|place| ids_in(place, &wants.proofs)),
            projects: wants.projects.iter().copied().collect(),
            others: wants.timed || wants.news,
        }
    }

    /// In the order of locking: the lane, rows by table and key, counters, once-keys, proofs.
    fn questions(&self) -> Vec<(LoadSubject, String, Params<'_>)> {
        let mut all: Vec<(LoadSubject, String, Params<'_>)> =
            vec![(LoadSubject::Lane, text::LANE.into(), vec![&self.lane])];
        for (table, exclusive, keys) in &self.rows {
            let lock = if *exclusive { "FOR UPDATE" } else { "FOR SHARE" };
            all.push((
                LoadSubject::Versions(*table),
                format!("{} {lock}", tables::statements_of(*table).versions),
                vec![keys],
            ));
        }
        if !self.raised.is_empty() {
            all.push((LoadSubject::Nothing, text::MAKE_COUNTS.into(), vec![&self.raised]));
        }
        if !self.counts.is_empty() {
            all.push((LoadSubject::Counts, text::LOCK_COUNTS.into(), vec![&self.counts]));
        }
        if !self.once.0.is_empty() {
            all.push((LoadSubject::Once, text::TAKE_ONCE.into(), vec![&self.once.0, &self.once.1]));
        }
        for (place, ids) in self.proofs.iter().enumerate().filter(|(_, ids)| !ids.is_empty()) {
            all.push((LoadSubject::Proofs(place), text::take_proofs(place), vec![ids]));
        }
        if !self.projects.is_empty() {
            all.push((LoadSubject::Heads, text::HEADS.into(), vec![&self.lane, &self.projects]));
        }
        if self.others {
            all.push((LoadSubject::Others, text::OTHERS.into(), vec![]));
        }
        all
    }
}

impl Loaded {
    /// Takes one result in; false if it shows that the lane is lost.
    fn take(
        &mut self,
        about: LoadSubject,
        rows: &[Row],
        wants: &Wants<'_>,
        owner: &str,
    ) -> Result<bool, tokio_postgres::Error> {
        match about {
            LoadSubject::Lane => return self.take_lane(rows, owner),
            LoadSubject::Nothing => {}
            LoadSubject::Once => self.take_once(rows, wants)?,
            LoadSubject::Proofs(place) => self.take_proofs(place, rows, wants)?,
            LoadSubject::Versions(table) => {
                for row in rows {
                    self.world.versions.insert((table, row.try_get(0)?), row.try_get(1)?);
                }
            }
            LoadSubject::Counts => {
                for row in rows {
                    let tally = Tally { value: row.try_get(1)?, until: row.try_get(2)? };
                    self.world.counts.insert(row.try_get(0)?, tally);
                }
            }
            LoadSubject::Heads => {
                for row in rows {
                    let head = Head { next_seq: row.try_get(1)?, chain: digest(row.try_get(2)?) };
                    self.world.heads.insert(row.try_get(0)?, head);
                }
            }
            LoadSubject::Others => {
                for row in rows {
                    self.world.now = row.try_get(0)?;
                    self.world.standing.ends.push((row.try_get(1)?, row.try_get(2)?));
                }
            }
        }
        Ok(true)
    }

    fn take_lane(&mut self, rows: &[Row], owner: &str) -> Result<bool, tokio_postgres::Error> {
        let Some(row) = rows.first() else { return Ok(false) };
        (self.world.next_pos, self.world.now) = (row.try_get(1)?, row.try_get(2)?);
        (self.world.standing.first, self.world.commits) = (row.try_get(3)?, row.try_get(4)?);
        Ok(row.try_get::<_, &str>(0)? == owner)
    }

    /// A key that was not given to this node is another's; its end does not matter here.
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

    /// A proof that was not given to this node was shown before, here or at another node.
    fn take_proofs(&mut self, place: usize, rows: &[Row], wants: &Wants<'_>) -> Result<(), tokio_postgres::Error> {
        let ours = rows.iter().map(|row| row.try_get(0)).collect::<Result<HashSet<&[u8]>, _>>()?;
        for proof in wants.proofs.iter().filter(|proof| slot(proof) == place) {
            if ours.contains(proof.id.as_slice()) {
                self.held_proofs.push((*proof).clone());
            } else if !self.held_proofs.iter().any(|held| held.id == proof.id) {
                self.world.proofs.insert(proof.id);
            }
        }
        Ok(())
    }
}

fn ids_in<'a>(place: usize, proofs: &[&'a StoredProof]) -> Vec<&'a [u8]> {
    let ids: BTreeSet<&[u8]> = proofs.iter().filter(|proof| slot(proof) == place).map(|p| p.id.as_slice()).collect();
    ids.into_iter().collect()
}

fn digest(bytes: &[u8]) -> Digest {
    bytes.try_into().map_or(Digest([0; 32]), Digest)
}
