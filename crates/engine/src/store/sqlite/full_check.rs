//! The check of the whole file, in the background, while the node serves.

use crate::store::health::Health;
use rusqlite::{Connection, ErrorCode, InterruptHandle, OpenFlags};
use std::{
    path::Path,
    sync::{Mutex, PoisonError},
    thread::JoinHandle,
};

/// Runs until everything is read, or until it is ended.
pub(super) struct FullCheck {
    interrupt: InterruptHandle,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl FullCheck {
    /// None where it cannot be started; the node serves without it, and reports that.
    pub(super) fn start(path: &Path, health: Health) -> Option<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = Connection::open_with_flags(path, flags);
        let connection = opened.inspect_err(|why| tracing::warn!(%why, "quick_check cannot be started")).ok()?;
        let interrupt = connection.get_interrupt_handle();
        health.set_check("quick_check: running");
        let check = move || run(&connection, &health);
        let thread = std::thread::Builder::new().name("countersign-check".into()).spawn(check).ok()?;
        Some(Self { interrupt, thread: Mutex::new(Some(thread)) })
    }

    /// Stops reading, so that the writer is the last to close.
    pub(super) fn end(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            self.interrupt.interrupt();
            let _ended = thread.join();
        }
    }
}

fn run(connection: &Connection, health: &Health) {
    let found = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    match found {
        Ok(found) if found == "ok" => health.set_check("quick_check: ok"),
        Ok(found) => failed(health, &found),
        Err(why) if why.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => {
            health.set_check("quick_check: not finished");
        }
        Err(why) => failed(health, &why.to_string()),
    }
}

fn failed(health: &Health, found: &str) {
    health.set_check("quick_check: failed");
    let _refuses_what_follows = health.fail(format!(
        "the database is damaged: {found}; stop this node and restore a backup (`countersign restore FILE`)"
    ));
}
