//! A step prepared for the writer: everything is serialised on the caller's thread, so that the one writer only writes.

use super::{
    absences::Mark,
    feed,
    proofs::StoredProof,
    record_cache::RecordCache,
    search::{Lookup as _, Search},
    sql::{SqlValue, Statement},
    tables::{self, DecisionById, DecisionByReply},
};
use countersign_core::{
    records::{Record, SharedRecord, Table},
    signals::Signal,
    step::{Count, Effects, EvidenceDraft, Guard, Once},
};
use countersign_protocol::{evidence::Leaf, hash::Digest, ids::RowKey, time::UnixMillis};
use std::sync::Arc;

pub(crate) struct Ready {
    pub(crate) guards: Vec<Guard>,
    pub(crate) once: Vec<Once>,
    pub(crate) proof: Option<StoredProof>,
    pub(crate) counts: Vec<Count>,
    pub(crate) changes: Vec<RowChange>,
    pub(crate) entries: Vec<PendingLeaf>,
    pub(crate) window: Window,
    pub(crate) news: Vec<Item>,
}

/// The time window of a step, by the store's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) not_before: Option<UnixMillis>,
    pub(crate) before: Option<UnixMillis>,
}

/// A signal, and its document for other nodes.
pub(crate) struct Item {
    pub(crate) news: Arc<Signal>,
    /// Empty where there are no other nodes.
    pub(crate) doc: String,
}

/// The change of one row.
pub(crate) struct RowChange {
    pub(crate) row: (Table, RowKey),
    pub(crate) needs: Needs,
    /// The version afterwards; none for a removed row.
    pub(crate) becomes: Option<i64>,
    /// The record afterwards, and the length of its document.
    pub(crate) record: Option<SharedRecord>,
    pub(crate) document_bytes: usize,
    /// For a new row: the look-ups that it answers from now on.
    pub(crate) answers: Vec<Search>,
    pub(crate) marks: Vec<Mark>,
    /// The first must change exactly one row, unless `needs` is `Anything`; the others follow it.
    pub(crate) statements: Vec<Statement>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    Absent,
    Version(i64),
    Anything,
}

/// An entry of the evidence log without a position yet.
pub(crate) struct PendingLeaf {
    pub(crate) project: RowKey,
    pub(crate) at: i64,
    pub(crate) event_type: &'static str,
    pub(crate) delegation: Option<RowKey>,
    pub(crate) session: Option<RowKey>,
    pub(crate) leaf: Vec<u8>,
    pub(crate) hash: Digest,
    pub(crate) openings: Option<String>,
    /// Whether it has a row in the feed as well.
    pub(crate) told_on: bool,
}

impl Ready {
    /// `told`: other nodes read the signals. `known`: the records in memory, which tell what a step changes of a row.
    pub(crate) fn from(effects: Effects, told: bool, known: Option<&RecordCache>) -> serde_json::Result<Self> {
        let Effects { guards, counts, once, proof, puts, removes, evidence, before, not_before, news } = effects;
        let removes = removes.into_iter().map(|(table, key)| RowChange::remove(table, key));
        let mut changes =
            puts.into_iter().map(|record| RowChange::put(record, known)).collect::<Result<Vec<_>, _>>()?;
        changes.extend(removes);
        let entries = evidence.into_iter().map(PendingLeaf::from).collect();
        let news = news.into_iter().map(|news| Item::from(news, told)).collect::<Result<_, _>>()?;
        let (proof, window) = (proof.as_ref().map(StoredProof::of), Window { not_before, before });
        Ok(Self { guards, once, proof, counts, changes, entries, window, news })
    }

    pub(crate) fn is_empty(&self) -> bool {
        let Self { guards, once, proof, counts, changes, entries, window, news } = self;
        let spends_nothing = once.is_empty() && proof.is_none() && counts.is_empty();
        let asks_nothing = guards.is_empty() && window.is_open_always();
        spends_nothing && asks_nothing && changes.is_empty() && entries.is_empty() && news.is_empty()
    }
}

impl Window {
    pub(crate) fn is_open_always(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn is_open_at(&self, now: i64) -> bool {
        self.not_before.is_none_or(|from| now >= from.0) && self.before.is_none_or(|end| now < end.0)
    }
}

impl Item {
    fn from(news: Signal, told: bool) -> serde_json::Result<Self> {
        let doc = if told { serde_json::to_string(&news.without_reply_tokens())? } else { String::new() };
        Ok(Self { doc, news: Arc::new(news) })
    }
}

impl RowChange {
    fn put(record: Record, known: Option<&RecordCache>) -> serde_json::Result<Self> {
        let (key, version, doc) = (record.key(), record.version(), record.to_json()?);
        let needs = if version == 1 { Needs::Absent } else { Needs::Version(version.saturating_sub(1)) };
        let (document_bytes, values) = (doc.len(), tables::values(&record));
        let (mut answers, mut marks) = (Vec::new(), Vec::new());
        if known.is_some() {
            marks = Mark::all(&record, &values);
            answers.extend(lookups_of_new(&record).into_iter().flatten());
        }
        let project = (record.table() == Table::Project).then(|| doc.clone());
        let before = known.and_then(|known| known.written_before(&record));
        let mut statements = vec![write((&record, needs), values, before.as_deref(), doc)];
        if let Some(doc) = project {
            let params = vec![key.into(), version.into(), SqlValue::Text(doc)];
            statements.push(Statement { sql: tables::KEEP_PROJECT_VERSION, params });
        }
        let row = (record.table(), key);
        let record = Some(record.into_shared());
        Ok(Self { row, needs, becomes: Some(version), record, document_bytes, answers, marks, statements })
    }

    fn remove(table: Table, key: RowKey) -> Self {
        let statement = Statement { sql: &tables::statements_of(table).delete, params: vec![key.into()] };
        Self {
            row: (table, key),
            needs: Needs::Anything,
            becomes: None,
            record: None,
            document_bytes: 0,
            answers: Vec::new(),
            marks: Vec::new(),
            statements: vec![statement],
        }
    }
}

/// The look-ups that follow soon on a new row: a question's answer, and its agent's wait.
fn lookups_of_new(record: &Record) -> Option<[Search; 2]> {
    match record {
        Record::Decision(new) if new.version == 1 => Some([
            DecisionById { project: new.project, id: new.id.clone() }.search(),
            DecisionByReply(new.reply_hash).search(),
        ]),
        _ => None,
    }
}

/// `before`: the values in the row now. Then only those that change are written, and only their indexes.
fn write(
    (record, needs): (&Record, Needs),
    values: Vec<SqlValue>,
    before: Option<&[SqlValue]>,
    doc: String,
) -> Statement {
    let (key, version, texts) = (record.key(), record.version(), tables::statements_of(record.table()));
    let mut params: Vec<SqlValue> = Vec::with_capacity(values.len() + 4);
    let Needs::Version(old) = needs else {
        params.extend([key.into(), version.into()]);
        params.extend(values);
        params.push(doc.into());
        return Statement { sql: &texts.insert, params };
    };
    params.push(version.into());
    let sql = match before {
        Some(before) => {
            let changed: Vec<bool> = values.iter().zip(before).map(|(new, old)| new != old).collect();
            params.extend(values.into_iter().zip(&changed).filter(|(_, changed)| **changed).map(|(value, _)| value));
            tables::update_of(record.table(), changed.iter().rev().fold(0, |bits, one| bits << 1 | u64::from(*one)))
        }
        None => {
            params.extend(values);
            &texts.update
        }
    };
    params.extend([doc.into(), key.into(), old.into()]);
    Statement { sql, params }
}

impl PendingLeaf {
    fn from(draft: EvidenceDraft) -> Self {
        let EvidenceDraft { project, at, event_type, delegation, session, leaf } = draft;
        let Leaf { bytes, hash, openings } = leaf;
        let told_on = feed::is_in_feed(event_type);
        Self { project, at: at.0, event_type, delegation, session, leaf: bytes, hash, openings, told_on }
    }
}
