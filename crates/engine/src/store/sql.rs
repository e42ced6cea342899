//! The SQL that both databases have in common: values, rows, and a connection that takes statements.
//!
//! Placeholders are `$1`, `$2`, … in the order of their first appearance: PostgreSQL goes by the number,
//! SQLite by the order.

use super::error::Failure;
use std::future::Future;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Int(i64),
    Text(String),
    Bytes(Vec<u8>),
    Null,
    /// Only as a parameter, for [`Sql::one_of`].
    List(Vec<i64>),
}

impl From<i64> for Value {
    fn from(int: i64) -> Self {
        Self::Int(int)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<&[u8; 32]> for Value {
    fn from(bytes: &[u8; 32]) -> Self {
        Self::Bytes(bytes.to_vec())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// A statement with its parameters, ready to be run.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub(crate) sql: &'static str,
    pub(crate) params: Vec<Value>,
}

pub(crate) struct Row(pub(crate) Vec<Value>);

impl Row {
    pub(crate) fn int(&self, column: usize) -> Result<i64, Failure> {
        self.maybe_int(column)?.ok_or_else(|| unexpected(column))
    }

    pub(crate) fn maybe_int(&self, column: usize) -> Result<Option<i64>, Failure> {
        match self.0.get(column) {
            Some(Value::Int(int)) => Ok(Some(*int)),
            Some(Value::Null) => Ok(None),
            _ => Err(unexpected(column)),
        }
    }

    pub(crate) fn text(&self, column: usize) -> Result<String, Failure> {
        self.maybe_text(column)?.ok_or_else(|| unexpected(column))
    }

    pub(crate) fn maybe_text(&self, column: usize) -> Result<Option<String>, Failure> {
        match self.0.get(column) {
            Some(Value::Text(text)) => Ok(Some(text.clone())),
            Some(Value::Null) => Ok(None),
            _ => Err(unexpected(column)),
        }
    }

    pub(crate) fn bytes(&self, column: usize) -> Result<Vec<u8>, Failure> {
        match self.0.get(column) {
            Some(Value::Bytes(bytes)) => Ok(bytes.clone()),
            _ => Err(unexpected(column)),
        }
    }

    pub(crate) fn digest(&self, column: usize) -> Result<countersign_protocol::hash::Digest, Failure> {
        let bytes = self.bytes(column)?;
        bytes.try_into().map(countersign_protocol::hash::Digest).map_err(|_| unexpected(column))
    }
}

fn unexpected(column: usize) -> Failure {
    Failure::Refused(format!("column {column} of a result does not match the schema"))
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

    /// The condition that `column` is in the [`Value::List`] at `placeholder`.
    fn one_of(column: &str, placeholder: &str) -> String;

    /// The store's clock.
    fn now(&mut self) -> impl Future<Output = Result<i64, Failure>> + Send;
    fn query(&mut self, sql: &str, params: &[Value]) -> impl Future<Output = Result<Vec<Row>, Failure>> + Send;
    fn execute(&mut self, sql: &str, params: &[Value]) -> impl Future<Output = Result<u64, Failure>> + Send;
    fn begin(&mut self, access: Access) -> impl Future<Output = Result<(), Failure>> + Send;
    fn commit(&mut self) -> impl Future<Output = Result<(), Failure>> + Send;
    /// Gives a limited number of free pages back to the file system and returns it. A no-op where the database does that itself.
    fn reclaim(&mut self) -> impl Future<Output = Result<u64, Failure>> + Send {
        std::future::ready(Ok(0))
    }
    fn rollback(&mut self) -> impl Future<Output = ()> + Send;
}
