//! How far the checks of the evidence came, so that each goes on where it was interrupted.

use super::{error::StoreFailure, sql::Sql};

/// Who checks. Each has a place of its own in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvidenceCheckKind {
    /// A person, by command.
    Command,
    /// Every node, a little at a time.
    Maintenance,
}

impl EvidenceCheckKind {
    const fn number(self) -> i64 {
        match self {
            Self::Command => 0,
            Self::Maintenance => 1,
        }
    }
}

pub(crate) async fn read<S: Sql>(sql: &mut S, kind: EvidenceCheckKind) -> Result<Option<String>, StoreFailure> {
    let found = sql.query("SELECT state FROM evidence_checks WHERE kind = $1", &[kind.number().into()]).await?;
    found.first().map(|row| row.text(0)).transpose()
}

pub(crate) async fn keep<S: Sql>(sql: &mut S, kind: EvidenceCheckKind, state: &str) -> Result<u64, StoreFailure> {
    let text = "INSERT INTO evidence_checks (kind, state) VALUES ($1, $2) ON CONFLICT (kind) DO UPDATE SET state = excluded.state";
    sql.execute(text, &[kind.number().into(), state.into()]).await
}
