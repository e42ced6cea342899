//! A connection to PostgreSQL, and the meaning of its errors.

use crate::store::{
    error::StoreFailure,
    sql::{Access, Row, Sql, SqlValue},
};
use deadpool_postgres::{Object, Pool, PoolError};
use std::{error::Error, time::Duration};
use tokio_postgres::{
    Statement,
    error::SqlState,
    types::{IsNull, ToSql, Type, private::BytesMut, to_sql_checked},
};

/// A pooled connection. One that is dropped inside a transaction is closed instead of being reused.
pub(super) struct PooledConnection {
    client: Option<Object>,
    in_transaction: bool,
}

/// A little more than the server's statement timeout.
const PATIENCE: Duration = Duration::from_secs(6);

impl PooledConnection {
    pub(super) async fn take(pool: &Pool) -> Result<Self, StoreFailure> {
        let client = pool.get().await.map_err(|why| StoreFailure::Lost(pool_error_text(&why)))?;
        Ok(Self { client: Some(client), in_transaction: false })
    }

    pub(super) fn client(&self) -> Result<&Object, StoreFailure> {
        let gone = || StoreFailure::Lost("the connection to PostgreSQL was lost".into());
        self.client.as_ref().filter(|client| !client.is_closed()).ok_or_else(gone)
    }

    pub(super) fn is_lost(&self) -> bool {
        self.client().is_err()
    }

    /// Notes that a statement of the caller began or ended a transaction.
    pub(super) fn set_in_transaction(&mut self, open: bool) {
        self.in_transaction = open;
    }

    /// Closes the connection in any state.
    pub(super) fn discard(&mut self) {
        if let Some(client) = self.client.take() {
            drop(Object::take(client));
        }
    }

    pub(super) async fn prepare(&self, sql: &str) -> Result<Statement, StoreFailure> {
        self.client()?.prepare_cached(sql).await.map_err(failure)
    }

    pub(super) async fn batch(&self, sql: &str) -> Result<(), StoreFailure> {
        self.client()?.batch_execute(sql).await.map_err(failure)
    }
}

impl Drop for PooledConnection {
    fn drop(&mut self) {
        if self.in_transaction {
            self.discard();
        }
    }
}

/// Waits for the database, with a limit.
pub(super) async fn with_timeout<T>(answer: impl Future<Output = Result<T, StoreFailure>>) -> Result<T, StoreFailure> {
    let late = |_| Err(StoreFailure::Lost("PostgreSQL does not answer".into()));
    tokio::time::timeout(PATIENCE, answer).await.unwrap_or_else(late)
}

impl Sql for PooledConnection {
    const NAME: &'static str = "postgres";
    const TABLE_SIZES: &'static str = "SELECT CAST(relname AS TEXT), pg_total_relation_size(oid) FROM pg_class \
         WHERE relkind = 'r' AND relnamespace = to_regnamespace(current_schema())";
    // PostgreSQL vacuums by itself.
    const DATABASE_SIZE: &'static str =
        "SELECT pg_database_size(current_database()), CAST(0 AS BIGINT), CAST(2 AS BIGINT)";
    const SKIP_LOCKED: &'static str = "FOR UPDATE SKIP LOCKED";
    // json, because jsonb takes no zero characters.
    const ACCOUNT_GRANT: &'static str = "CAST(s.doc::json #>> '{service_account,delegation}' AS BIGINT)";

    fn one_of(column: &str, placeholder: &str) -> String {
        format!("{column} = ANY({placeholder})")
    }

    async fn now(&mut self) -> Result<i64, StoreFailure> {
        let rows = self.query("SELECT countersign_now()", &[]).await?;
        rows.first()
            .map_or_else(|| Err(StoreFailure::Refused("there is no countersign_now()".into())), |row| row.int(0))
    }

    async fn query(&mut self, sql: &str, params: &[SqlValue]) -> Result<Vec<Row>, StoreFailure> {
        with_timeout(async {
            let statement = self.prepare(sql).await?;
            let rows = self.client()?.query(&statement, &refs(params)).await.map_err(failure)?;
            rows.iter().map(owned).collect()
        })
        .await
    }

    async fn execute(&mut self, sql: &str, params: &[SqlValue]) -> Result<u64, StoreFailure> {
        with_timeout(async {
            let statement = self.prepare(sql).await?;
            self.client()?.execute(&statement, &refs(params)).await.map_err(failure)
        })
        .await
    }

    async fn begin(&mut self, access: Access) -> Result<(), StoreFailure> {
        self.in_transaction = true;
        let text = match access {
            Access::Snapshot => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            Access::Write => "BEGIN",
        };
        with_timeout(self.batch(text)).await
    }

    async fn commit(&mut self) -> Result<(), StoreFailure> {
        let done = with_timeout(async { self.client()?.batch_execute("COMMIT").await.map_err(commit_failure) }).await;
        self.in_transaction = done.is_err();
        done
    }

    async fn rollback(&mut self) {
        match with_timeout(self.batch("ROLLBACK")).await {
            Ok(()) => self.in_transaction = false,
            Err(_) => self.discard(),
        }
    }
}

pub(super) fn refs(params: &[SqlValue]) -> Vec<&(dyn ToSql + Sync)> {
    params.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

fn owned(row: &tokio_postgres::Row) -> Result<Row, StoreFailure> {
    let value = |(n, column): (usize, &tokio_postgres::Column)| {
        let value = match *column.type_() {
            Type::INT8 => row.try_get::<_, Option<i64>>(n).map(SqlValue::from),
            Type::BYTEA => row.try_get::<_, Option<Vec<u8>>>(n).map(|b| b.map_or(SqlValue::Null, SqlValue::Bytes)),
            _ => row.try_get::<_, Option<String>>(n).map(|t| t.map_or(SqlValue::Null, SqlValue::Text)),
        };
        value.map_err(failure)
    };
    row.columns().iter().enumerate().map(value).collect::<Result<_, _>>().map(Row)
}

impl ToSql for SqlValue {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Int(int) => int.to_sql(ty, out),
            Self::Text(text) => text.to_sql(ty, out),
            Self::Bytes(bytes) => bytes.to_sql(ty, out),
            Self::List(list) => list.to_sql(ty, out),
            Self::Null => Ok(IsNull::Yes),
        }
    }

    fn accepts(ty: &Type) -> bool {
        [Type::INT8, Type::TEXT, Type::BYTEA, Type::INT8_ARRAY].contains(ty)
    }

    to_sql_checked!();
}

/// The meaning of an error before the commit: nothing has happened.
pub(super) fn failure(error: tokio_postgres::Error) -> StoreFailure {
    let text = describe(&error);
    let Some(code) = error.code() else {
        let io = error.is_closed() || error.source().is_some_and(|why| why.is::<std::io::Error>());
        return if io { StoreFailure::Lost(text) } else { StoreFailure::Refused(text) };
    };
    match code {
        // Serialization, deadlock, lock timeout, statement timeout.
        &SqlState::T_R_SERIALIZATION_FAILURE
        | &SqlState::T_R_DEADLOCK_DETECTED
        | &SqlState::LOCK_NOT_AVAILABLE
        | &SqlState::QUERY_CANCELED => StoreFailure::Again(text),
        // A read-only server has handed over to another.
        &SqlState::READ_ONLY_SQL_TRANSACTION => StoreFailure::Lost(text),
        code if is_connection_end(code) => StoreFailure::Lost(text),
        _ => StoreFailure::Refused(text),
    }
}

/// The meaning of an error of the commit. Only a plain refusal of the server says that it did not happen.
pub(super) fn commit_failure(error: tokio_postgres::Error) -> StoreFailure {
    match error.code() {
        Some(code) if !is_connection_end(code) => failure(error),
        _ => StoreFailure::Unknown(format!("whether the commit happened is not known: {}", describe(&error))),
    }
}

/// The server ended the connection: classes 08 and 57P.
fn is_connection_end(code: &SqlState) -> bool {
    code.code().starts_with("08") || code.code().starts_with("57P")
}

/// The server's own message, without an error's detail, which may quote values of a row.
fn describe(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(said) => format!("PostgreSQL says: {} ({})", said.message(), said.code().code()),
        None => format!("PostgreSQL: {}", with_causes(error)),
    }
}

/// Why there is no connection. The pool's own message omits the reason.
pub(super) fn pool_error_text(error: &PoolError) -> String {
    let why = match error {
        PoolError::Backend(error) => describe(error),
        other => with_causes(other),
    };
    format!("PostgreSQL cannot be reached: {why}")
}

/// An error with all its causes, outermost first.
fn with_causes(error: &dyn Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {}", with_causes(cause)),
        None => error.to_string(),
    }
}
