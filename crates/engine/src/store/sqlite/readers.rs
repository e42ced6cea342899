//! Read-only connections, lent out for one read at a time.

use super::connection::{Durability, SqliteConnection, SteadyClock, failure};
use crate::store::{StoreError, error::StoreFailure};
use futures_util::{FutureExt as _, future::BoxFuture};
use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::sync::Semaphore;

pub(super) struct Readers {
    shared: Arc<ReaderPool>,
    permits: Arc<Semaphore>,
}

struct ReaderPool {
    path: PathBuf,
    durability: Durability,
    clock: Arc<SteadyClock>,
    idle: Mutex<Vec<SqliteConnection>>,
}

impl Readers {
    pub(super) fn new(path: PathBuf, durability: Durability, clock: Arc<SteadyClock>, readers: usize) -> Self {
        let shared = ReaderPool { path, durability, clock, idle: Mutex::default() };
        Self { shared: Arc::new(shared), permits: Arc::new(Semaphore::new(readers.max(1))) }
    }

    pub(super) async fn read<R, F>(&self, read: F) -> Result<R, StoreError>
    where
        R: Send + 'static,
        F: for<'c> FnOnce(&'c mut SqliteConnection) -> BoxFuture<'c, Result<R, StoreFailure>> + Send + 'static,
    {
        let stopped = |why: String| StoreError::Unavailable(why);
        let permit = self.permits.clone().acquire_owned().await.map_err(|why| stopped(why.to_string()))?;
        let shared = self.shared.clone();
        let reading = tokio::task::spawn_blocking(move || {
            let result = shared.with(read);
            drop(permit);
            result
        });
        reading.await.map_err(|why| stopped(why.to_string()))?
    }
}

impl Readers {
    /// A few pages by an index, mostly in memory: read on this thread, since handing it to another and back costs several
    /// times as much.
    pub(super) async fn look_up<R, F>(&self, read: F) -> Result<R, StoreError>
    where
        F: for<'c> FnOnce(&'c mut SqliteConnection) -> BoxFuture<'c, Result<R, StoreFailure>>,
    {
        let _permit = self.permits.acquire().await.map_err(|why| StoreError::Unavailable(why.to_string()))?;
        self.shared.with(read)
    }
}

impl Readers {
    pub(super) fn close_idle(&self) {
        self.shared.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl ReaderPool {
    fn with<R, F>(&self, read: F) -> Result<R, StoreError>
    where
        F: for<'c> FnOnce(&'c mut SqliteConnection) -> BoxFuture<'c, Result<R, StoreFailure>>,
    {
        let mut connection = self.take()?;
        // SQLite's futures never wait.
        let waits = || Err(StoreFailure::Refused("a read did not finish".into()));
        let result = read(&mut connection).now_or_never().unwrap_or_else(waits);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        Ok(result?)
    }

    fn take(&self) -> Result<SqliteConnection, StoreError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let open = || SqliteConnection::open_reader(&self.path, self.durability, self.clock.clone());
        idle.map_or_else(open, Ok).map_err(|why| failure(why).into())
    }
}

#[cfg(test)]
mod tests;
