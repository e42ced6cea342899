//! `countersign db …`: the size of the database.

use crate::{
    cli::Reading, commands::backup::failure, context::Context, engine, failure::Failure, operations, table::Table,
};
use clap::Subcommand;
use countersign_protocol::time::UnixMillis;
use countersign_server::{
    admin::{KindStats, ReadStorageStats, StorageStats},
    vacuum_database,
};
use serde_json::{Value, json};

/// Show how much room the database takes and what is removed next, or make its file smaller
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show rows and bytes of each kind of record, how old its oldest one is, and when retention removes from it next
    ///
    /// Reads the whole database, which takes a while where it is large.
    Stats {
        #[command(flatten)]
        reading: Reading,
    },
    /// Make a SQLite file as small as its contents, once; later its node gives free pages back by itself
    ///
    /// The node must be stopped, and there must be as much room on the disk again as the file takes. PostgreSQL does this by
    /// itself.
    Vacuum,
}

pub(crate) fn run(command: Command, context: &Context) -> Result<(), Failure> {
    match command {
        Command::Stats { reading } => show_stats(reading.json, context),
        Command::Vacuum => vacuum(context),
    }
}

fn vacuum(context: &Context) -> Result<(), Failure> {
    let loaded = context.load_for_command()?;
    let rewritten = engine::runtime()?.block_on(vacuum_database(&loaded.config));
    let (before, after) = rewritten.map_err(failure)?;
    context.say(&format!("{before} bytes before, {after} bytes now; free pages are given back from now on\n"))
}

fn show_stats(json: bool, context: &Context) -> Result<(), Failure> {
    let stats = operations::ask(context, ReadStorageStats {})?;
    if json {
        return context.say_json(&as_json(&stats));
    }
    context.list(&Table {
        head: ["kind", "rows", "bytes", "oldest", "kept by", "removed not before"],
        rows: stats.kinds.iter().map(kind_row).collect(),
        none: "the database is empty",
    })?;
    context.say(&summary(&stats))
}

fn kind_row(stats: &KindStats) -> [String; 6] {
    let time = |at: Option<UnixMillis>| at.map(|at| at.to_rfc3339()).unwrap_or_default();
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

fn as_json(stats: &StorageStats) -> Value {
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
