//! Backup and restore: a restored database is served only in a new epoch.

use crate::{
    config::{Environment, Loaded, node},
    database,
    start::{StartTrouble, open_engine_as},
};
use countersign_engine::{
    Clock, ClockFault, Engine, EpochStarted, Refusal,
    store::{DatabaseLock, Opening, Staged, StoreError, back_up, vacuum},
};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    #[error(transparent)]
    Start(#[from] StartTrouble),
    #[error("the new epoch could not be started: {0}")]
    Epoch(Refusal),
    /// A SQLite file can be copied; PostgreSQL has its own tools.
    #[error("the database is in PostgreSQL, which has its own tools for that")]
    Postgres,
}

impl From<StoreError> for RestoreError {
    fn from(why: StoreError) -> Self {
        Self::Start(StartTrouble::Store(why))
    }
}

/// Copies the SQLite database into a new file while a node may be running. `told` is called at intervals with the bytes
/// copied so far and the approximate total.
pub async fn back_up_database(
    config: &node::NodeConfig,
    target: PathBuf,
    mut told: impl FnMut(u64, u64),
) -> Result<u64, RestoreError> {
    const LOOK: Duration = Duration::from_millis(250);
    let node::Store::Sqlite { path, .. } = &config.store else { return Err(RestoreError::Postgres) };
    let (source, copy) = (path.clone(), target.clone());
    let length = |path: &Path| std::fs::metadata(path).map_or(0, |found| found.len());
    let mut copying = tokio::task::spawn_blocking(move || back_up(&source, &copy));
    loop {
        match tokio::time::timeout(LOOK, &mut copying).await {
            Ok(copied) => {
                copied.map_err(|why| StoreError::Unavailable(why.to_string()))??;
                return Ok(length(&target));
            }
            Err(_still_copying) => told(length(&target), length(path)),
        }
    }
}

/// Shrinks the SQLite database to its content while no node runs. Returns the bytes before and after.
pub async fn vacuum_database(config: &node::NodeConfig) -> Result<(u64, u64), RestoreError> {
    let node::Store::Sqlite { path, .. } = &config.store else { return Err(RestoreError::Postgres) };
    let (path, now) = (path.clone(), Clock::System.now());
    let rewritten = tokio::task::spawn_blocking(move || vacuum(&path, now)).await;
    Ok(rewritten.map_err(|why| StoreError::Unavailable(why.to_string()))??)
}

/// Replaces the SQLite database with a backup, in a new epoch. The previous database is kept beside it, under the
/// returned name.
pub async fn restore_database(
    loaded: &Loaded,
    environment: &Environment,
    backup: &Path,
) -> Result<(EpochStarted, String), RestoreError> {
    let node::Store::Sqlite { path, readers } = &loaded.config.store else { return Err(RestoreError::Postgres) };
    let now = Clock::System.now();
    let _nobody_else = DatabaseLock::acquire(path, now).map_err(|why| why.store_error(path))?;
    let staged = Staged::copy(backup, path)?;
    let store = node::Store::Sqlite { path: staged.path().to_owned(), readers: *readers };
    let config = node::NodeConfig { store, ..loaded.config.clone() };
    let started = start_epoch(&config, environment).await?;
    let aside = format!("replaced-{}", now.secs());
    staged.put_in_place(&aside)?;
    Ok((started, format!("{}.{aside}", path.display())))
}

/// Continues with the existing database in a new epoch, after it was restored by PostgreSQL's tools or by hand.
pub async fn adopt_database(loaded: &Loaded, environment: &Environment) -> Result<EpochStarted, RestoreError> {
    start_epoch(&loaded.config, environment).await
}

async fn start_epoch(config: &node::NodeConfig, environment: &Environment) -> Result<EpochStarted, RestoreError> {
    let opening = Opening { alone: true, adopt: true, ..database::beside(config) };
    let engine = open_engine_as(opening, config, environment).await?;
    let started = in_new_epoch(&engine).await;
    // Closing it makes this database the current one.
    engine.store().close().await;
    started.map_err(RestoreError::Epoch)
}

/// A backup from a time when the clock was ahead continues with the present clock: the new epoch ends everything that
/// depends on the time anyway.
async fn in_new_epoch(engine: &Arc<Engine>) -> Result<EpochStarted, Refusal> {
    if let Some(ClockFault::Behind { .. }) = engine.clock_fault() {
        engine.accept_clock("the database was restored").await?;
    }
    engine.start_epoch().await
}
