//! The removal of what names a person: openings, with their number, and rows.

use super::{
    error::StoreFailure,
    sql::{Sql, SqlValue},
};
use countersign_protocol::ids::RowKey;
use std::collections::BTreeMap;

/// What a project's tables have about a person.
#[derive(Clone, Debug, Default)]
pub struct ErasedRecords {
    pub project: RowKey,
    pub person: RowKey,
    /// The ids of their delegations and API keys.
    pub principals: Vec<String>,
    pub delegations: Vec<RowKey>,
    /// The rows of their API keys.
    pub keys: Vec<RowKey>,
}

/// Removes openings and adds their number to the erasure's, in one transaction: a repetition counts nothing twice.
pub(crate) async fn openings<S: Sql>(
    sql: &mut S,
    (erasure, project): (RowKey, RowKey),
    places: &[(i64, i64)],
) -> Result<u64, StoreFailure> {
    let mut lanes: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for (lane, pos) in places {
        lanes.entry(*lane).or_default().push(*pos);
    }
    let mut removed = 0;
    for (lane, positions) in lanes {
        let text = format!(
            "DELETE FROM evidence_openings WHERE lane = $1 AND {} AND (SELECT 1 FROM evidence e WHERE e.lane = evidence_openings.lane \
             AND e.pos = evidence_openings.pos AND e.project = $3) IS NOT NULL",
            S::one_of("pos", "$2")
        );
        removed += sql.execute(&text, &[lane.into(), SqlValue::List(positions), project.into()]).await?;
    }
    let count = i64::try_from(removed).unwrap_or(i64::MAX);
    let text = "INSERT INTO erased_openings (erasure, project, openings) VALUES ($1, $2, $3) \
         ON CONFLICT (erasure, project) DO UPDATE SET openings = erased_openings.openings + excluded.openings";
    sql.execute(text, &[erasure.into(), project.into(), count.into()]).await?;
    Ok(removed)
}

/// The number of openings that an erasure removed, by project.
pub(crate) async fn removed<S: Sql>(sql: &mut S, erasure: RowKey) -> Result<Vec<(RowKey, u64)>, StoreFailure> {
    let text = "SELECT project, openings FROM erased_openings WHERE erasure = $1 ORDER BY project";
    let found = sql.query(text, &[erasure.into()]).await?;
    found.iter().map(|row| Ok((row.int(0)?, u64::try_from(row.int(1)?).unwrap_or(0)))).collect()
}

/// Removes the rows of a person and of their agents. Delegations and keys stay without a name: the log refers to them. An
/// effect that was carried out is never carried out again, so its execution stays.
pub(crate) async fn records<S: Sql>(sql: &mut S, about: &ErasedRecords) -> Result<u64, StoreFailure> {
    let mut removed = 0;
    for principal in &about.principals {
        removed += decisions(sql, about.project, principal).await?;
    }
    let sessions = sessions(sql, about).await?;
    let holders: Vec<RowKey> = sessions.iter().chain(&about.keys).copied().collect();
    let chains = keys(sql, "clarification_sessions", "holder", &holders).await?;
    for (table, column, found) in [
        ("clarification_entries", "session", &chains),
        ("clarification_sessions", "key", &chains),
        ("rollbacks", "session", &sessions),
        ("reversible_writes", "session", &sessions),
        ("heartbeats", "session", &sessions),
        ("sessions", "key", &sessions),
        ("outbox_messages", "delegation", &about.delegations),
    ] {
        removed += delete(sql, table, column, found).await?;
    }
    for table in ["plans", "subscriber_tokens", "scim_users", "memberships"] {
        let text = format!("DELETE FROM {table} WHERE project = $1 AND person = $2");
        removed += sql.execute(&text, &[about.project.into(), about.person.into()]).await?;
    }
    removed += sql.execute("DELETE FROM web_sessions WHERE person = $1", &[about.person.into()]).await?;
    Ok(removed)
}

async fn decisions<S: Sql>(sql: &mut S, project: RowKey, principal: &str) -> Result<u64, StoreFailure> {
    let text = "SELECT key, asked_in FROM decisions WHERE project = $1 AND principal = $2";
    let found = sql.query(text, &[project.into(), principal.into()]).await?;
    let column = |n: usize| found.iter().map(|row| row.int(n)).collect::<Result<Vec<RowKey>, _>>();
    let (decisions, sessions) = (column(0)?, column(1)?);
    let mut removed = 0;
    for (table, column) in [
        ("allowances", "decision"),
        ("executions", "live_effect IS NULL AND decision"),
        ("undoable_calls", "decision"),
        ("held_requests", "key"),
        ("decisions", "key"),
    ] {
        removed += delete(sql, table, column, &decisions).await?;
    }
    Ok(removed + delete(sql, "aaep_sessions", "key", &sessions).await?)
}

async fn sessions<S: Sql>(sql: &mut S, about: &ErasedRecords) -> Result<Vec<RowKey>, StoreFailure> {
    if about.delegations.is_empty() {
        return Ok(Vec::new());
    }
    let text = format!("SELECT key FROM sessions WHERE project = $1 AND {}", S::one_of("delegation", "$2"));
    let found = sql.query(&text, &[about.project.into(), SqlValue::List(about.delegations.clone())]).await?;
    found.iter().map(|row| row.int(0)).collect()
}

async fn keys<S: Sql>(sql: &mut S, table: &str, column: &str, of: &[RowKey]) -> Result<Vec<RowKey>, StoreFailure> {
    if of.is_empty() {
        return Ok(Vec::new());
    }
    let text = format!("SELECT key FROM {table} WHERE {}", S::one_of(column, "$1"));
    let found = sql.query(&text, &[SqlValue::List(of.to_vec())]).await?;
    found.iter().map(|row| row.int(0)).collect()
}

async fn delete<S: Sql>(sql: &mut S, table: &str, column: &str, keys: &[RowKey]) -> Result<u64, StoreFailure> {
    if keys.is_empty() {
        return Ok(0);
    }
    let text = format!("DELETE FROM {table} WHERE {}", S::one_of(column, "$1"));
    sql.execute(&text, &[SqlValue::List(keys.to_vec())]).await
}
