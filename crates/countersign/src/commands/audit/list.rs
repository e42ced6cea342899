//! `countersign audit list`

use crate::{context::Context, failure::Failure, operations, table::Table};
use countersign_protocol::{
    audit::{AuditRecord, AuditRecords, csv_head},
    time::UnixMillis,
};
use countersign_server::admin::{AuditSearch, ListAudit};
use serde_json::{Value, to_value};

/// Entries of one request to the node.
const AT_ONCE: usize = 500;

/// List the entries of the audit, oldest first
///
/// All of them, however many there are: pipe the output of --csv or --jsonl into a file. A search goes through the whole log
/// unless --from limits it.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Only entries that name this person, and those of their agents.
    #[arg(long, value_name = "NAME")]
    person: Option<String>,

    /// Only those of this operator's agents.
    #[arg(long, value_name = "DOMAIN")]
    operator: Option<String>,

    /// Only those of this delegation, AAP session, API key or service account.
    #[arg(long, value_name = "ID")]
    agent: Option<String>,

    /// Only those of this route, by its id or its action.
    #[arg(long, value_name = "ROUTE")]
    route: Option<String>,

    /// Only those with this result: accepted, rejected, expired, refused, committed, unknown, reconciled and so on.
    #[arg(long, value_name = "RESULT")]
    outcome: Option<String>,

    /// Only those of this type.
    #[arg(long, value_name = "TYPE")]
    event_type: Option<String>,

    /// Only those about this decision.
    #[arg(long, value_name = "ID")]
    decision: Option<String>,

    /// Only those from this time on, such as 2026-06-01T00:00:00Z.
    #[arg(long, value_name = "TIME", value_parser = time)]
    from: Option<UnixMillis>,

    /// Only those before this time.
    #[arg(long, value_name = "TIME", value_parser = time)]
    to: Option<UnixMillis>,

    /// The project. May be omitted if there is only one.
    #[arg(long, value_name = "ID")]
    project: Option<String>,

    /// Print one JSON array.
    #[arg(long, conflicts_with_all = ["csv", "jsonl"])]
    json: bool,

    /// Print CSV, with a line of column names.
    #[arg(long, conflicts_with = "jsonl")]
    csv: bool,

    /// Print one JSON document a line.
    #[arg(long)]
    jsonl: bool,
}

fn time(text: &str) -> Result<UnixMillis, String> {
    UnixMillis::parse_rfc3339(text).ok_or_else(|| "write it as 2026-06-01T00:00:00Z".into())
}

pub(crate) fn run(arguments: Arguments, context: &Context) -> Result<(), Failure> {
    let Arguments { person, operator, agent, route, outcome, event_type, decision, from, to, .. } = arguments;
    let search = AuditSearch { person, operator, agent, route, outcome, event_type, decision_id: decision, from, to };
    let request = ListAudit { project: arguments.project, search, cursor: String::new(), limit: AT_ONCE };
    let mut output = match (arguments.json, arguments.csv, arguments.jsonl) {
        (true, ..) => Output::Json(Vec::new()),
        (_, true, _) => Output::Csv,
        (_, _, true) => Output::JsonLines,
        _ => Output::Columns { listed: false },
    };
    output.begin(context)?;
    operations::ask_on(context, request.clone(), |page: AuditRecords| {
        output.page(&page.entries, context)?;
        Ok(page.more.then(|| ListAudit { cursor: page.next_cursor, ..request.clone() }))
    })?;
    output.end(context)
}

/// What is printed, page by page. Only an array is kept until its end.
enum Output {
    Columns { listed: bool },
    Json(Vec<Value>),
    Csv,
    JsonLines,
}

impl Output {
    fn begin(&self, context: &Context) -> Result<(), Failure> {
        match self {
            Self::Csv => context.say_csv(&csv_head()),
            _ => Ok(()),
        }
    }

    fn page(&mut self, entries: &[AuditRecord], context: &Context) -> Result<(), Failure> {
        match self {
            Self::Columns { .. } if entries.is_empty() => Ok(()),
            Self::Columns { listed } => {
                *listed = true;
                context.list(&columns(entries))
            }
            Self::Json(kept) => {
                kept.extend(entries.iter().filter_map(|entry| to_value(entry).ok()));
                Ok(())
            }
            Self::Csv => entries.iter().try_for_each(|entry| context.say_csv(&entry.csv_line())),
            Self::JsonLines => {
                entries.iter().filter_map(|entry| to_value(entry).ok()).try_for_each(|entry| context.say_line(&entry))
            }
        }
    }

    fn end(self, context: &Context) -> Result<(), Failure> {
        match self {
            Self::Columns { listed: false } => context.list(&columns(&[])),
            Self::Json(kept) => context.say_json(&Value::Array(kept)),
            _ => Ok(()),
        }
    }
}

fn columns(entries: &[AuditRecord]) -> Table<7> {
    Table {
        head: ["time", "result", "event", "who", "how", "what", "decision or call"],
        rows: entries.iter().map(row).collect(),
        none: "no entry fits",
    }
}

fn row(entry: &AuditRecord) -> [String; 7] {
    let first = |names: &[&str]| names.iter().find_map(|name| entry.member(name)).unwrap_or_default();
    [
        entry.timestamp.to_rfc3339(),
        entry.result.clone(),
        entry.event_type.clone(),
        first(&["decided_by", "approved_by", "acting_for", "account_id", "subject"]),
        how(entry),
        entry.evidence_fault.clone().unwrap_or_else(|| first(&["action", "tool", "outcome", "reason"])),
        first(&["decision_id", "call_id", "delegation_id"]),
    ]
}

/// For example `fresh (password 120 s before), page`.
fn how(entry: &AuditRecord) -> String {
    let presence = entry.member("proven_by").zip(entry.member("proven_seconds_before"));
    let proven = presence.map(|(by, seconds)| format!(" ({by} {seconds} s before)")).unwrap_or_default();
    let sure = entry.member("assurance").map(|assurance| assurance + &proven);
    sure.into_iter().chain(entry.member("via")).collect::<Vec<_>>().join(", ")
}
