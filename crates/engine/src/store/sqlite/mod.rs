//! The embedded store: one file, one writer thread, a few read connections.

mod backup;
mod connection;
mod full_check;
mod header;
mod lock;
mod migrations;
mod prepare;
mod readers;
mod row_cache;
mod temporary;
mod tx;
mod vacuum;
mod watch;

use super::{
    Opening, Store, StoreClock, StoreError,
    error::StoreFailure,
    health::Health,
    maintenance::MaintenanceJob,
    open_store::{Backend, OpenedStore},
    position::companion,
    record_cache::RecordCache,
    signals::Listeners,
    writer::{self, Jobs, Writer},
};
use async_trait::async_trait;
pub use backup::{Staged, back_up};
use connection::{Durability, SqliteConnection, SteadyClock};
use countersign_protocol::time::UnixMillis;
use full_check::FullCheck;
use futures_util::future::BoxFuture;
pub use lock::{DatabaseLock, Holder, LockError};
use readers::Readers;
use std::{path::PathBuf, sync::Arc};
use temporary::TemporaryFolder;
pub use vacuum::vacuum;

pub(super) async fn open_temporary(clock: StoreClock, readers: usize) -> Result<Arc<dyn Store>, StoreError> {
    let folder = TemporaryFolder::make()?;
    let path = folder.path().join("countersign.db");
    let file =
        DatabaseFile { path, durability: Durability::None, opening: Opening { create: true, ..Opening::default() } };
    open(file, clock, readers, FileLocks { lock: None, _folder: Some(folder) }).await
}

pub(super) async fn open_file(
    path: PathBuf,
    opening: Opening,
    clock: StoreClock,
    readers: usize,
) -> Result<Arc<dyn Store>, StoreError> {
    prepare::check_file(&path, opening.create)?;
    let lock = match DatabaseLock::acquire(&path, clock()) {
        Ok(lock) => Some(lock),
        Err(LockError::Held(_)) if !opening.alone => None,
        Err(why) => return Err(why.store_error(&path)),
    };
    open(
        DatabaseFile { path, durability: Durability::Full, opening },
        clock,
        readers,
        FileLocks { lock, _folder: None },
    )
    .await
}

struct DatabaseFile {
    path: PathBuf,
    durability: Durability,
    opening: Opening,
}

/// Released once nothing of the database is open any more.
struct FileLocks {
    lock: Option<DatabaseLock>,
    _folder: Option<TemporaryFolder>,
}

async fn open(
    file: DatabaseFile,
    clock: StoreClock,
    readers: usize,
    kept: FileLocks,
) -> Result<Arc<dyn Store>, StoreError> {
    let clock = Arc::new(SteadyClock::new(clock));
    let readers = Readers::new(file.path.clone(), file.durability, clock.clone(), readers);
    let steady = clock.clone();
    let health = Health::default();
    let (locked, shared) = (kept.lock.is_some(), health.clone());
    let (path, in_service) = (file.path.clone(), locked && file.opening.alone && !file.opening.adopt);
    let prepared = tokio::task::spawn_blocking(move || prepare::writer(&file, locked, clock, &shared));
    let mut connection = prepared.await.map_err(|why| StoreError::Unavailable(why.to_string()))??;
    let listeners = Listeners::default();
    connection.listeners = listeners.clone();
    let records = Arc::new(RecordCache::default());
    connection.records = Some(Arc::clone(&records));
    let (writer, jobs) = Writer::new(false);
    start(connection, jobs, kept)?;
    let check = in_service.then(|| FullCheck::start(&path, health.clone())).flatten();
    let store = Sqlite { log: companion(&path, "-wal"), readers, writer, clock: steady, listeners, health, check };
    Ok(Arc::new(OpenedStore::new(store, Some(records))))
}

/// The writer's thread has a small runtime of its own, so that a slow disk holds up nothing else.
fn start(connection: SqliteConnection, jobs: Jobs, kept: FileLocks) -> Result<(), StoreError> {
    let cannot = |why: std::io::Error| StoreError::Unavailable(format!("the writer cannot be started: {why}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().map_err(cannot)?;
    let write = move || {
        let closed = runtime.block_on(writer::run(connection, jobs));
        drop(kept);
        if let Some(closed) = closed {
            let _gone = closed.send(());
        }
    };
    std::thread::Builder::new().name("countersign-writer".into()).spawn(write).map(|_| ()).map_err(cannot)
}

struct Sqlite {
    log: PathBuf,
    readers: Readers,
    writer: Writer,
    clock: Arc<SteadyClock>,
    listeners: Listeners,
    health: Health,
    check: Option<FullCheck>,
}

#[async_trait]
impl Backend for Sqlite {
    type Reader = SqliteConnection;
    const OWN_CLOCK: bool = false;

    async fn read<R, F>(&self, read: F) -> Result<R, StoreError>
    where
        R: Send + 'static,
        F: for<'c> FnOnce(&'c mut SqliteConnection) -> BoxFuture<'c, Result<R, StoreFailure>> + Send + 'static,
    {
        self.readers.read(read).await
    }

    async fn look_up<R, F>(&self, read: F) -> Result<R, StoreError>
    where
        R: Send + 'static,
        F: for<'c> FnOnce(&'c mut SqliteConnection) -> BoxFuture<'c, Result<R, StoreFailure>> + Send + 'static,
    {
        self.readers.look_up(read).await
    }

    fn set_clock(&self, now: UnixMillis) {
        self.clock.set(now.0);
    }

    fn log_bytes(&self) -> Option<u64> {
        std::fs::metadata(&self.log).ok().map(|found| found.len())
    }

    /// The last connection to close checkpoints the write-ahead log, and that should be the writer's.
    fn close_readers(&self) {
        if let Some(check) = &self.check {
            check.end();
        }
        self.readers.close_idle();
    }

    /// There is one writer, also for maintenance.
    async fn maintain(&self, chore: MaintenanceJob) -> Result<u64, StoreError> {
        self.writer.maintain(chore).await
    }

    fn writer(&self) -> &Writer {
        &self.writer
    }

    fn listeners(&self) -> &Listeners {
        &self.listeners
    }

    fn health(&self) -> &Health {
        &self.health
    }

    fn lane(&self) -> i64 {
        tx::LANE
    }
}
