//! `GET /v1/audit`: the whole audit of a project, for its auditors.

use crate::time::{UnixMillis, rfc3339};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A page of the audit, oldest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AuditRecords {
    pub entries: Vec<AuditRecord>,
    /// The position after this page. It never loses an entry: those recorded later come after it.
    pub next_cursor: String,
    /// Whether there is more to read now. A page may be short, or empty, and have more after it.
    pub more: bool,
}

/// An entry with everything that is recorded in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AuditRecord {
    #[serde(with = "rfc3339")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub timestamp: UnixMillis,
    pub event_type: String,
    /// What it says at a glance: `accepted`, `answered`, `rejected`, `expired`, `cancelled`, `refused`, `committed`, `failed`,
    /// `unknown`, `reconciled`, `conflict`, `ended`, `done`, `recorded`, or `altered`.
    pub result: String,
    /// Set if the stored entry does not fit its hash or its commitments: what does not fit is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence_fault: Option<String>,
    /// True if personal members of it were erased.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub erased: bool,
    /// Its position in the evidence log, and its leaf hash.
    pub lane: i64,
    pub seq: i64,
    pub leaf_hash: String,
    /// All that is recorded: who decided, how that was proven, the call, its outcome.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub members: Map<String, Value>,
}

/// The columns of the audit as CSV. All but the first three and the last four are members of the entry.
pub const CSV_COLUMNS: [&str; 27] = [
    "timestamp",
    "event_type",
    "result",
    "decided_by",
    "approved_by",
    "assurance",
    "proven_by",
    "proven_seconds_before",
    "via",
    "role",
    "acting_for",
    "operator",
    "delegation_id",
    "principal",
    "session_id",
    "method",
    "action",
    "path",
    "outcome",
    "reason",
    "decision_id",
    "execution_id",
    "call_id",
    "evidence_fault",
    "lane",
    "seq",
    "leaf_hash",
];

/// The line of column names.
pub fn csv_head() -> String {
    CSV_COLUMNS.join(",") + "\r\n"
}

impl AuditRecord {
    /// A member as text, if it is there.
    pub fn member(&self, name: &str) -> Option<String> {
        self.members.get(name).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    }

    /// A line of RFC 4180, with its end.
    pub fn csv_line(&self) -> String {
        let cells: Vec<String> = CSV_COLUMNS.iter().map(|column| csv_cell(&self.column(column))).collect();
        cells.join(",") + "\r\n"
    }

    fn column(&self, name: &str) -> String {
        match name {
            "timestamp" => self.timestamp.to_rfc3339(),
            "event_type" => self.event_type.clone(),
            "result" => self.result.clone(),
            "evidence_fault" => self.evidence_fault.clone().unwrap_or_default(),
            "lane" => self.lane.to_string(),
            "seq" => self.seq.to_string(),
            "leaf_hash" => self.leaf_hash.clone(),
            member => self.member(member).unwrap_or_default(),
        }
    }
}

/// A spreadsheet would run a cell that begins like a formula, and an agent chooses paths and reasons.
fn csv_cell(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if formula { format!("'{text}") } else { text.to_owned() };
    match text.contains(['"', ',', '\n', '\r']) || formula {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests;
