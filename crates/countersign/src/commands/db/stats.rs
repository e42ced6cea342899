//! `countersign db stats`

use crate::{cli::Reading, context::Context, failure::Failure, operations, table::Table};
use countersign_server::admin::{KindStats, ReadStorageStats, StorageStats};
use serde_json::{Value, json};

/// Show rows and bytes of each kind of record, how old its oldest one is, and when retention removes from it next
///
/// Reads the whole database, which takes a while where it is large.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    reading: Reading,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let stats = operations::ask(context, ReadStorageStats {})?;
    if arguments.reading.json {
        return context.say_json(&json(&stats));
    }
    context.list(&Table {
        head: ["kind", "rows", "bytes", "oldest", "kept by", "removed not before"],
        rows: stats.kinds.iter().map(row).collect(),
        none: "the database is empty",
    })?;
    context.say(&summary(&stats))
}

fn row(stats: &KindStats) -> [String; 6] {
    let time = |at: Option<countersign_protocol::time::UnixMillis>| at.map(|at| at.to_rfc3339()).unwrap_or_default();
    [
        stats.kind.clone(),
        stats.rows.to_string(),
        stats.bytes.to_string(),
        time(stats.oldest),
        stats.setting.clone().unwrap_or_default(),
        if stats.overdue { "due, or held by other records".to_owned() } else { time(stats.next_removal) },
    ]
}

fn summary(stats: &StorageStats) -> String {
    let StorageStats { database, total_bytes, free_bytes, leaves_last_day, bytes_last_day, .. } = stats;
    let mut text = format!("{database}: {total_bytes} bytes in all, {free_bytes} of them free\n");
    if let Some(log) = stats.log_bytes {
        text += &format!("write-ahead log: {log} bytes\n");
    }
    text += &format!(
        "last day: {leaves_last_day} evidence leaves, about {bytes_last_day} bytes with all that belongs to them\n"
    );
    if !stats.gives_back {
        text += "this file was made by an older version and keeps its free pages: stop the node and run `countersign db vacuum` once\n";
    }
    text
}

fn json(stats: &StorageStats) -> Value {
    let kind = |kind: &KindStats| {
        json!({
            "kind": kind.kind,
            "rows": kind.rows,
            "bytes": kind.bytes,
            "oldest": kind.oldest.map(|at| at.to_rfc3339()),
            "setting": kind.setting,
            "next_removal": kind.next_removal.map(|at| at.to_rfc3339()),
            "overdue": kind.overdue,
        })
    };
    json!({
        "database": stats.database,
        "total_bytes": stats.total_bytes,
        "free_bytes": stats.free_bytes,
        "log_bytes": stats.log_bytes,
        "gives_back_free_pages": stats.gives_back,
        "leaves_last_day": stats.leaves_last_day,
        "bytes_last_day": stats.bytes_last_day,
        "kinds": stats.kinds.iter().map(kind).collect::<Vec<_>>(),
    })
}
