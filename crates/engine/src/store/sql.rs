//! The SQL that both databases have in common: values, rows, and a connection that takes statements.
//!
//! Placeholders are `$1`, `$2`, … in the order of their first appearance: PostgreSQL goes by the number,
//! SQLite by the order.

use super::error::StoreFailure;
use countersign_protocol::{hash::Digest, mplp::MplpId, time::UnixMillis};
use std::future::Future;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum SqlValue {
    Int(i64),
    Text(String),
    Bytes(Vec<u8>),
    Null,
    /// Only as a parameter, for [`Sql::one_of`].
    List(Vec<i64>),
}

impl From<i64> for SqlValue {
    fn from(int: i64) -> Self {
        Self::Int(int)
    }
}

impl From<UnixMillis> for SqlValue {
    fn from(at: UnixMillis) -> Self {
        Self::Int(at.0)
    }
}

impl From<&str> for SqlValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for SqlValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<MplpId> for SqlValue {
    fn from(id: MplpId) -> Self {
        id.as_str().into()
    }
}

impl From<Digest> for SqlValue {
    fn from(digest: Digest) -> Self {
        (&digest.0).into()
    }
}

impl From<&[u8; 32]> for SqlValue {
    fn from(bytes: &[u8; 32]) -> Self {
        Self::Bytes(bytes.to_vec())
    }
}

impl<T: Into<SqlValue>> From<Option<T>> for SqlValue {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// A statement with its parameters, ready to be run.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub(crate) sql: &'static str,
    pub(crate) params: Vec<SqlValue>,
}

pub(crate) struct Row(pub(crate) Vec<SqlValue>);

impl Row {
    pub(crate) fn int(&self, column: usize) -> Result<i64, StoreFailure> {
        self.maybe_int(column)?.ok_or_else(|| unexpected(column))
    }

    pub(crate) fn maybe_int(&self, column: usize) -> Result<Option<i64>, StoreFailure> {
        match self.0.get(column) {
            Some(SqlValue::Int(int)) => Ok(Some(*int)),
            Some(SqlValue::Null) => Ok(None),
            _ => Err(unexpected(column)),
        }
    }

    pub(crate) fn text(&self, column: usize) -> Result<String, StoreFailure> {
        self.maybe_text(column)?.ok_or_else(|| unexpected(column))
    }

    pub(crate) fn maybe_text(&self, column: usize) -> Result<Option<String>, StoreFailure> {
        match self.0.get(column) {
            Some(SqlValue::Text(text)) => Ok(Some(text.clone())),
            Some(SqlValue::Null) => Ok(None),
            _ => Err(unexpected(column)),
        }
    }

    pub(crate) fn bytes_ref(&self, column: usize) -> Result<&[u8], StoreFailure> {
        match self.0.get(column) {
            Some(SqlValue::Bytes(bytes)) => Ok(bytes),
            _ => Err(unexpected(column)),
        }
    }

    pub(crate) fn bytes(&self, column: usize) -> Result<Vec<u8>, StoreFailure> {
        self.bytes_ref(column).map(<[u8]>::to_vec)
    }

    pub(crate) fn digest(&self, column: usize) -> Result<Digest, StoreFailure> {
        let bytes = self.bytes(column)?;
        bytes.try_into().map(Digest).map_err(|_| unexpected(column))
    }
}

fn unexpected(column: usize) -> StoreFailure {
    StoreFailure::Refused(format!("column {column} of a result does not match the schema"))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// All reads see one moment.
    Snapshot,
    Write,
}

/// A connection. SQLite's futures are ready at once; they are futures so that one code serves both.
pub(crate) trait Sql: Send {
    /// The database's name.
    const NAME: &'static str;
    /// Lists each table with its bytes, indexes included.
    const TABLE_SIZES: &'static str;
    /// Total bytes, bytes of free pages, and 2 where these are given back in steps.
    const DATABASE_SIZE: &'static str;
    /// Appended to a sub-select of rows to work on, so that two nodes do not wait for each other.
    const SKIP_LOCKED: &'static str;
    /// The grant of a session's service account, in the document of a row `s`.
    const ACCOUNT_GRANT: &'static str;

    /// The condition that `column` is in the [`SqlValue::List`] at `placeholder`.
    fn one_of(column: &str, placeholder: &str) -> String;

    /// The store's clock.
    fn now(&mut self) -> impl Future<Output = Result<i64, StoreFailure>> + Send;
    fn query(&mut self, sql: &str, params: &[SqlValue]) -> impl Future<Output = Result<Vec<Row>, StoreFailure>> + Send;
    fn execute(&mut self, sql: &str, params: &[SqlValue]) -> impl Future<Output = Result<u64, StoreFailure>> + Send;
    fn begin(&mut self, access: Access) -> impl Future<Output = Result<(), StoreFailure>> + Send;
    fn commit(&mut self) -> impl Future<Output = Result<(), StoreFailure>> + Send;
    /// Gives a limited number of free pages back to the file system and returns it. A no-op where the database does that itself.
    fn reclaim(&mut self) -> impl Future<Output = Result<u64, StoreFailure>> + Send {
        std::future::ready(Ok(0))
    }
    fn rollback(&mut self) -> impl Future<Output = ()> + Send;
}
