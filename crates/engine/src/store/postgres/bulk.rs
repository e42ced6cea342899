//! Writing the gains of a batch, as a few statements over arrays.

use super::{
    connection::{commit_failure, failure},
    load::Params,
    node::NodeRow,
    proofs::{SLOTS, slot},
    statements as text,
};
use crate::store::{batch::Gains, error::StoreFailure, proofs::StoredProof};
use futures_util::future::{join, join_all};
use std::collections::HashSet;
use tokio_postgres::{Statement, types::ToSql};

impl NodeRow {
    /// The prepared statements that write the gains.
    pub(super) async fn bulk_of<'a>(&self, gains: &'a Gains<'a>) -> Result<Bulk<'a>, StoreFailure> {
        let lane = self.lane.as_ref().map_or(0, |lane| lane.number);
        let mut bulk = Bulk::of(lane, gains, &self.held);
        bulk.give_back_proofs(gains, &self.held_proofs);
        for (sql, _) in &bulk.writes {
            bulk.statements.push(self.connection.prepare(sql).await?);
        }
        Ok(bulk)
    }

    /// Sends the gains and the commit together: if any of them fails, the commit undoes all.
    pub(super) async fn write_bulk(&self, bulk: &Bulk<'_>) -> Result<(), StoreFailure> {
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

pub(super) struct Bulk<'a> {
    writes: Vec<(&'static str, Vec<Box<dyn ToSql + Sync + Send + 'a>>)>,
    statements: Vec<Statement>,
}

impl<'a> Bulk<'a> {
    fn of(lane: i64, gains: &'a Gains<'a>, held: &[(String, i64)]) -> Self {
        let mut bulk = Self { writes: Vec::new(), statements: Vec::new() };
        bulk.add_counts(gains);
        bulk.add_once(gains, held);
        bulk.add_evidence(lane, gains);
        bulk.add_news(lane, gains);
        bulk.add_lane(lane, gains);
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

    /// The keys are written already; those of failed steps are given back.
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

    /// The same for proofs: the proof of a failed step may be shown again.
    fn give_back_proofs(&mut self, gains: &Gains<'_>, held: &[StoredProof]) {
        if held.len() == gains.proofs.len() {
            return;
        }
        let spent: HashSet<_> = gains.proofs.iter().map(|proof| proof.id).collect();
        let mut unspent: [Vec<Vec<u8>>; SLOTS] = Default::default();
        for proof in held.iter().filter(|proof| !spent.contains(&proof.id)) {
            if let Some(ids) = unspent.get_mut(slot(proof)) {
                ids.push(proof.id.to_vec());
            }
        }
        let texts = text::GIVE_BACK_PROOFS.into_iter().zip(unspent).filter(|(_, ids)| !ids.is_empty());
        self.writes.extend(texts.map(|(text, ids)| (text, vec![Box::new(ids) as Box<dyn ToSql + Sync + Send>])));
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
        self.add_feed(lane, gains);
        self.add_heads(lane, gains);
    }

    fn add_feed(&mut self, lane: i64, gains: &'a Gains<'a>) {
        let told_on = gains.entries.iter().filter(|placed| placed.entry.told_on);
        let (projects, positions): (Vec<i64>, Vec<i64>) = told_on.map(|e| (e.entry.project, e.pos)).unzip();
        if !positions.is_empty() {
            self.writes.push((text::FEED, vec![Box::new(lane), Box::new(projects), Box::new(positions)]));
        }
    }

    fn add_news(&mut self, lane: i64, gains: &'a Gains<'a>) {
        if gains.news.is_empty() {
            return;
        }
        let docs: Vec<&str> = gains.news.iter().map(|item| item.doc.as_str()).collect();
        let positions: Vec<i64> = gains.news.iter().zip(gains.standing.first..).map(|(_, pos)| pos).collect();
        let next = positions.last().map_or(gains.standing.first, |last| last.saturating_add(1));
        let news: Vec<Box<dyn ToSql + Sync + Send + 'a>> =
            vec![Box::new(lane), Box::new(gains.now), Box::new(positions), Box::new(docs)];
        self.writes.push((text::NEWS, news));
        self.writes.push((text::WRITE_NEXT_NEWS, vec![Box::new(next), Box::new(lane)]));
        self.writes.push((text::NOTIFY, vec![]));
    }

    fn add_heads(&mut self, lane: i64, gains: &'a Gains<'a>) {
        let projects: Vec<i64> = gains.heads.keys().copied().collect();
        let seqs: Vec<i64> = gains.heads.values().map(|head| head.next_seq).collect();
        let chains: Vec<&[u8]> = gains.heads.values().map(|head| head.chain.0.as_slice()).collect();
        let heads: Vec<Box<dyn ToSql + Sync + Send + 'a>> =
            vec![Box::new(lane), Box::new(projects), Box::new(seqs), Box::new(chains)];
        self.writes.push((text::WRITE_HEADS, heads));
    }

    /// Every commit is counted.
    fn add_lane(&mut self, lane: i64, gains: &Gains<'_>) {
        let counted: Vec<Box<dyn ToSql + Sync + Send + 'a>> =
            vec![Box::new(gains.next_pos), Box::new(gains.commits), Box::new(lane)];
        self.writes.push((text::WRITE_LANE, counted));
    }
}
