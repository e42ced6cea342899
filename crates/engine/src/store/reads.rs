//! The small reads, the same for both databases.

use super::{
    error::StoreFailure,
    sql::{Row, Sql},
};
use countersign_protocol::{hash::Digest, ids::RowKey};

/// The head of a project's log in one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneHead {
    pub lane: i64,
    /// The sequence of the next entry; the first one has 1.
    pub next_seq: i64,
    /// `protocol::evidence::chain` over all entries so far, beginning with 32 zero bytes.
    pub chain: Digest,
}

pub(crate) async fn lane_heads<S: Sql>(sql: &mut S, project: RowKey) -> Result<Vec<LaneHead>, StoreFailure> {
    let text = "SELECT lane, next_seq, chain FROM lane_heads WHERE project = $1 ORDER BY lane";
    let head = |row: &Row| Ok(LaneHead { lane: row.int(0)?, next_seq: row.int(1)?, chain: row.digest(2)? });
    sql.query(text, &[project.into()]).await?.iter().map(head).collect()
}

pub(crate) async fn project_version<S: Sql>(
    sql: &mut S,
    project: RowKey,
    version: i64,
) -> Result<Option<String>, StoreFailure> {
    let text = "SELECT doc FROM project_versions WHERE project = $1 AND version = $2";
    sql.query(text, &[project.into(), version.into()]).await?.first().map(|row| row.text(0)).transpose()
}

pub(crate) async fn project_versions<S: Sql>(sql: &mut S, project: RowKey) -> Result<Vec<i64>, StoreFailure> {
    let text = "SELECT version FROM project_versions WHERE project = $1 ORDER BY version";
    sql.query(text, &[project.into()]).await?.iter().map(|row| row.int(0)).collect()
}

pub(crate) async fn count<S: Sql>(sql: &mut S, key: &str) -> Result<i64, StoreFailure> {
    let now = sql.now().await?;
    let text = "SELECT value FROM counts WHERE key = $1 AND until >= $2";
    sql.query(text, &[key.into(), now.into()]).await?.first().map_or(Ok(0), |row| row.int(0))
}

pub(crate) async fn ping<S: Sql>(sql: &mut S) -> Result<(), StoreFailure> {
    sql.query("SELECT lane FROM lanes LIMIT 1", &[]).await.map(|_| ())
}
