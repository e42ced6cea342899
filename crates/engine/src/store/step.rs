//! A step prepared for the writer: everything is serialised on the caller's thread, so that the one writer only writes.

use super::{
    feed,
    proofs::StoredProof,
    sql::{SqlValue, Statement},
    tables,
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
    /// `told`: other nodes read the signals.
    pub(crate) fn from(effects: Effects, told: bool) -> serde_json::Result<Self> {
        let Effects { guards, counts, once, proof, puts, removes, evidence, before, not_before, news } = effects;
        let removes = removes.into_iter().map(|(table, key)| RowChange::remove(table, key));
        let mut changes = puts.into_iter().map(RowChange::put).collect::<Result<Vec<_>, _>>()?;
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
    fn put(record: Record) -> serde_json::Result<Self> {
        let (key, version, doc) = (record.key(), record.version(), record.to_json()?);
        let needs = if version == 1 { Needs::Absent } else { Needs::Version(version.saturating_sub(1)) };
        let document_bytes = doc.len();
        let mut statements = vec![write(&record, needs, &doc)];
        if record.table() == Table::Project {
            let params = vec![key.into(), version.into(), SqlValue::Text(doc)];
            statements.push(Statement { sql: tables::KEEP_PROJECT_VERSION, params });
        }
        let row = (record.table(), key);
        let record = Some(record.into_shared());
        Ok(Self { row, needs, becomes: Some(version), record, document_bytes, statements })
    }

    fn remove(table: Table, key: RowKey) -> Self {
        let statement = Statement { sql: &tables::statements_of(table).delete, params: vec![key.into()] };
        Self {
            row: (table, key),
            needs: Needs::Anything,
            becomes: None,
            record: None,
            document_bytes: 0,
            statements: vec![statement],
        }
    }
}

fn write(record: &Record, needs: Needs, doc: &str) -> Statement {
    let (key, version, texts) = (record.key(), record.version(), tables::statements_of(record.table()));
    let mut params: Vec<SqlValue> = Vec::with_capacity(8);
    if let Needs::Version(old) = needs {
        params.push(version.into());
        params.extend(tables::values(record));
        params.extend([doc.into(), key.into(), old.into()]);
        return Statement { sql: &texts.update, params };
    }
    params.extend([key.into(), version.into()]);
    params.extend(tables::values(record));
    params.push(doc.into());
    Statement { sql: &texts.insert, params }
}

impl PendingLeaf {
    fn from(draft: EvidenceDraft) -> Self {
        let EvidenceDraft { project, at, event_type, delegation, session, leaf } = draft;
        let Leaf { bytes, hash, openings } = leaf;
        let told_on = feed::is_in_feed(event_type);
        Self { project, at: at.0, event_type, delegation, session, leaf: bytes, hash, openings, told_on }
    }
}
