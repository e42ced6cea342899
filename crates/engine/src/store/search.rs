//! Look-ups: the columns that select the rows of a table, their order, and their number; and the reads that return records
//! instead of documents.

use super::{
    Store, StoreError,
    error::StoreFailure,
    sql::{Sql, SqlValue},
    tables,
};
use countersign_core::records::{Project, Record, SharedRecord, Stored, Table};
use countersign_protocol::{ids::RowKey, time::UnixMillis};
use std::{borrow::Cow, sync::Arc};

/// The rows of a table with these column values, in the order of their keys unless it says otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Search {
    table: Table,
    conditions: Vec<(Comparison, SqlValue)>,
    order: Cow<'static, str>,
    limit: Option<i64>,
    /// Whether the columns are unique and a row keeps their values for life.
    unique: bool,
}

/// A column and an operator.
type Comparison = (&'static str, &'static str);

impl Search {
    pub fn by_key(table: Table, key: RowKey) -> Self {
        Self::of(table).with("key", key).unique()
    }

    /// The columns are unique and a row keeps their values for life, so that its key can be remembered.
    pub(crate) fn unique(self) -> Self {
        Self { unique: true, ..self }
    }

    pub(crate) fn is_unique(&self) -> bool {
        self.unique
    }

    /// The key, where that is all that is searched for.
    pub(crate) fn row_key(&self) -> Option<RowKey> {
        match self.conditions.as_slice() {
            [(("key", "="), SqlValue::Int(key))] => Some(*key),
            _ => None,
        }
    }

    pub(crate) fn table(&self) -> Table {
        self.table
    }

    /// Whether it compares just these columns, in this order.
    pub(crate) fn is_by(&self, table: Table, columns: &[&str]) -> bool {
        let same =
            |(((column, operator), _), wanted): (&(Comparison, SqlValue), &&str)| column == wanted && *operator == "=";
        self.table == table && self.conditions.len() == columns.len() && self.conditions.iter().zip(columns).all(same)
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &SqlValue> {
        self.conditions.iter().map(|(_, value)| value)
    }

    pub(crate) fn of(table: Table) -> Self {
        Self { table, conditions: Vec::new(), order: "key".into(), limit: None, unique: false }
    }

    pub(crate) fn with(self, column: &'static str, value: impl Into<SqlValue>) -> Self {
        self.where_column(column, "=", value)
    }

    /// The last of those rows.
    pub(crate) fn newest(self) -> Self {
        Self { order: "key DESC LIMIT 1".into(), ..self }
    }

    /// The one of those rows with the highest value in a column.
    pub(crate) fn highest(self, column: &'static str) -> Self {
        Self { order: format!("{column} DESC LIMIT 1").into(), ..self }
    }

    /// Those rows from the last one on, or from the one before `before`.
    pub(crate) fn page(self, before: Option<RowKey>, limit: i64) -> Self {
        let older = match before {
            Some(before) => self.where_column("key", "<", before),
            None => self,
        };
        Self { order: "key DESC".into(), limit: Some(limit), ..older }
    }

    /// Those rows with a moment in a column that has come at `by`, the most overdue first.
    pub(crate) fn due(self, column: &'static str, by: UnixMillis, limit: i64) -> Self {
        let due = self.where_column(column, "<=", by.0);
        Self { order: format!("{column}, key").into(), limit: Some(limit), ..due }
    }

    /// The most overdue row of the first group after `group`, which may be empty.
    pub(crate) fn due_after(
        self,
        group_column: &'static str,
        group: String,
        column: &'static str,
        by: UnixMillis,
    ) -> Self {
        let due = self.where_column(group_column, ">", group).where_column(column, "<=", by.0);
        Self { order: format!("{group_column}, {column}, key LIMIT 1").into(), ..due }
    }

    fn where_column(mut self, column: &'static str, operator: &'static str, value: impl Into<SqlValue>) -> Self {
        self.conditions.push(((column, operator), value.into()));
        self
    }

    pub(crate) fn statement(self) -> (String, Vec<SqlValue>) {
        let (comparisons, mut params): (Vec<Comparison>, Vec<SqlValue>) = self.conditions.into_iter().unzip();
        let mut text = format!("SELECT doc FROM {}", tables::columns_of(self.table).name);
        for ((column, operator), n) in comparisons.into_iter().zip(1..) {
            let word = if n == 1 { "WHERE" } else { "AND" };
            text += &format!(" {word} {column} {operator} ${n}");
        }
        text += &format!(" ORDER BY {}", self.order);
        if let Some(limit) = self.limit {
            params.push(limit.max(0).into());
            text += &format!(" LIMIT ${}", params.len());
        }
        (text, params)
    }

    /// The documents of the rows.
    pub(crate) async fn documents<S: Sql>(self, sql: &mut S) -> Result<Vec<String>, StoreFailure> {
        let (text, params) = self.statement();
        sql.query(&text, &params).await?.iter().map(|row| row.text(0)).collect()
    }
}

/// A search for rows of one type of record. All of them are in `tables.rs`.
pub trait Lookup {
    type Record: Stored;

    fn search(self) -> Search;
}

pub async fn get<T: Stored>(store: &dyn Store, key: RowKey) -> Result<Option<T>, StoreError> {
    one(store, Search::by_key(T::TABLE, key)).await
}

pub async fn find_one<L: Lookup>(store: &dyn Store, lookup: L) -> Result<Option<L::Record>, StoreError> {
    one(store, lookup.search()).await
}

pub async fn find_all<L: Lookup>(store: &dyn Store, lookup: L) -> Result<Vec<L::Record>, StoreError> {
    store.records(lookup.search()).await?.into_iter().map(typed).collect()
}

/// The record as the cache has it, without a copy.
pub async fn find_shared<L: Lookup>(store: &dyn Store, lookup: L) -> Result<Option<Arc<L::Record>>, StoreError> {
    store.records(lookup.search()).await?.into_iter().next().map(shared).transpose()
}

async fn one<T: Stored>(store: &dyn Store, search: Search) -> Result<Option<T>, StoreError> {
    store.records(search).await?.into_iter().next().map(typed).transpose()
}

/// The record itself, if nobody else has it; a copy otherwise.
fn typed<T: Stored>(record: SharedRecord) -> Result<T, StoreError> {
    shared(record).map(Arc::unwrap_or_clone)
}

fn shared<T: Stored>(record: SharedRecord) -> Result<Arc<T>, StoreError> {
    record.downcast::<T>().map_err(|_| StoreError::Damaged(format!("{:?}: another type", T::TABLE)))
}

/// A project as it was at a version.
pub async fn project_at(store: &dyn Store, project: RowKey, version: i64) -> Result<Option<Project>, StoreError> {
    let doc = store.project_version(project, version).await?;
    doc.map(|doc| typed(parse(Table::Project, &doc)?.into_shared())).transpose()
}

pub(crate) fn parse(table: Table, doc: &str) -> Result<Record, StoreError> {
    Record::from_json(table, doc).map_err(|why| StoreError::Damaged(format!("{table:?}: {why}")))
}
