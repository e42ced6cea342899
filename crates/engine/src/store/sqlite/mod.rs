//! The embedded store: one file, one thread that writes, a few connections that read.

mod connection;
mod known;
mod migrations;
mod readers;
mod temporary;
mod tx;

use super::{
    Clock, Store, StoreError,
    chores::Chore,
    error::Failure,
    news::Listeners,
    opened::{Backend, Opened},
    writer::{self, Jobs, Writer},
};
use async_trait::async_trait;
use connection::{Connection, Durability, SteadyClock, failure};
use futures_util::future::BoxFuture;
use readers::Readers;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};
use temporary::TemporaryFolder;

pub(super) async fn open_temporary(clock: Clock, readers: usize) -> Result<Arc<dyn Store>, StoreError> {
    let folder = TemporaryFolder::make()?;
    let path = folder.path().join("countersign.db");
    open(path, Durability::None, clock, readers, Some(folder)).await
}

pub(super) async fn open_file(path: PathBuf, clock: Clock, readers: usize) -> Result<Arc<dyn Store>, StoreError> {
    open(path, Durability::Full, clock, readers, None).await
}

async fn open(
    path: PathBuf,
    durability: Durability,
    clock: Clock,
    readers: usize,
    folder: Option<TemporaryFolder>,
) -> Result<Arc<dyn Store>, StoreError> {
    let clock = Arc::new(SteadyClock::new(clock));
    let readers = Readers::new(path.clone(), durability, clock.clone(), readers);
    let prepared = tokio::task::spawn_blocking(move || prepare(&path, durability, clock));
    let mut connection = prepared.await.map_err(|why| StoreError::Unavailable(why.to_string()))??;
    let listeners = Listeners::default();
    connection.listeners = listeners.clone();
    let (writer, jobs) = Writer::new(false);
    start(connection, jobs, folder)?;
    Ok(Arc::new(Opened(Sqlite { readers, writer, listeners })))
}

/// Opens the file for writing and brings it up to date.
fn prepare(path: &Path, durability: Durability, clock: Arc<SteadyClock>) -> Result<Connection, StoreError> {
    make_private(path)?;
    let mut connection = Connection::open(path, durability, clock)
        .map_err(|why| StoreError::Options(format!("cannot open the database {}: {why}", path.display())))?;
    migrations::run(&mut connection.inner)?;
    let last = connection.rows("SELECT heartbeat FROM lanes WHERE lane = $1", &[tx::LANE.into()]).map_err(failure)?;
    connection.clock.not_before(last.first().map_or(Ok(i64::MIN), |row| row.int(0))?);
    Ok(connection)
}

/// Makes a missing file readable by its owner only; SQLite gives its companions the same mode.
fn make_private(path: &Path) -> Result<(), StoreError> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let made = std::fs::OpenOptions::new().append(true).create(true).mode(0o600).open(path);
    made.map(|_| ()).map_err(|why| {
        StoreError::Options(format!(
            "cannot open the database {}: {why}; its folder must exist and be writable",
            path.display()
        ))
    })
}

/// The writer's thread has a small runtime of its own, so that a slow disk holds up nothing else.
fn start(connection: Connection, jobs: Jobs, folder: Option<TemporaryFolder>) -> Result<(), StoreError> {
    let cannot = |why: std::io::Error| StoreError::Unavailable(format!("the writer cannot be started: {why}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().map_err(cannot)?;
    let write = move || {
        let closed = runtime.block_on(writer::run(connection, jobs));
        drop(folder);
        if let Some(closed) = closed {
            let _gone = closed.send(());
        }
    };
    std::thread::Builder::new().name("countersign-writer".into()).spawn(write).map(|_| ()).map_err(cannot)
}

struct Sqlite {
    readers: Readers,
    writer: Writer,
    listeners: Listeners,
}

#[async_trait]
impl Backend for Sqlite {
    type Reader = Connection;

    async fn read<R, F>(&self, read: F) -> Result<R, StoreError>
    where
        R: Send + 'static,
        F: for<'c> FnOnce(&'c mut Connection) -> BoxFuture<'c, Result<R, Failure>> + Send + 'static,
    {
        self.readers.read(read).await
    }

    async fn look_up<R, F>(&self, read: F) -> Result<R, StoreError>
    where
        R: Send + 'static,
        F: for<'c> FnOnce(&'c mut Connection) -> BoxFuture<'c, Result<R, Failure>> + Send + 'static,
    {
        self.readers.look_up(read).await
    }

    /// The last connection to close folds the write-ahead log into the file, and that should be the writer's.
    fn let_readers_go(&self) {
        self.readers.let_go();
    }

    /// There is one writer, also for chores.
    async fn chore(&self, chore: Chore) -> Result<u64, StoreError> {
        self.writer.chore(chore).await
    }

    fn writer(&self) -> &Writer {
        &self.writer
    }

    fn listeners(&self) -> &Listeners {
        &self.listeners
    }

    fn lane(&self) -> i64 {
        tx::LANE
    }
}
