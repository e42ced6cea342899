//! Opening a file for writing: its content is checked before it is trusted.

use super::{
    DatabaseFile, companion,
    connection::{Durability, SqliteConnection, SteadyClock, failure},
    header::{self, Found},
    migrations, tx,
    watch::FileWatch,
};
use crate::store::{
    StoreError,
    error::StoreFailure,
    health::Health,
    position::{self, Keeper, KeptIn, Position, PositionFile},
};
use futures_util::FutureExt as _;
use std::{path::Path, sync::Arc};

/// A new database is created only on demand, and never where one was before.
pub(super) fn check_file(path: &Path, create: bool) -> Result<(), StoreError> {
    if header::probe(path)? == Found::Database {
        return Ok(());
    }
    let shown = path.display();
    let position = PositionFile::beside(path);
    if PositionFile::read(&position)?.is_some_and(|kept| kept.commits > 0) {
        return Err(StoreError::Missing(format!(
            "the database {shown} is gone: {} remembers that there was one",
            position.display()
        )));
    }
    if create { Ok(()) } else { Err(StoreError::Missing(format!("there is no database {shown}"))) }
}

/// Opens the file for writing and brings it up to date.
pub(super) fn writer(
    file: &DatabaseFile,
    locked: bool,
    clock: Arc<SteadyClock>,
    health: &Health,
) -> Result<SqliteConnection, StoreError> {
    let (path, lasting) = (&file.path, file.durability == Durability::Full);
    let kept = if lasting { PositionFile::read(&PositionFile::beside(path))? } else { None };
    let log = header::log_damage(path);
    make_private(path)?;
    let mut connection = SqliteConnection::open(path, file.durability, clock)
        .map_err(|why| StoreError::Options(format!("cannot open the database {}: {why}", path.display())))?;
    let schema = migrations::newest(&connection.inner).map_err(|why| unreadable(path, &why))?;
    if schema == 0 && !file.opening.create {
        return Err(StoreError::Missing(format!("there is no database of countersign in {}", path.display())));
    }
    if lasting && !file.opening.adopt && schema > 0 {
        check(&mut connection, path, schema, kept.as_ref()).map_err(|why| with_log_damage(why, log))?;
    }
    migrations::run(&mut connection.inner)?;
    let last = connection.rows("SELECT heartbeat FROM lanes WHERE lane = $1", &[tx::LANE.into()]).map_err(failure)?;
    connection.clock.not_before(last.first().map_or(Ok(i64::MIN), |row| row.int(0))?);
    if lasting && locked {
        keep(&mut connection, file, health)?;
    } else if lasting {
        connection.disable_checkpoints().map_err(failure)?;
    }
    Ok(connection)
}

/// Whether the file is as new as the acknowledged position, and its end is whole.
fn check(
    connection: &mut SqliteConnection,
    path: &Path,
    schema: i64,
    kept: Option<&Position>,
) -> Result<(), StoreError> {
    let current = position::is_current(connection, schema, kept, tx::LANE).now_or_never();
    match current.unwrap_or(Ok(true)) {
        Ok(true) => Ok(()),
        Ok(false) => {
            let missing = PositionFile::beside(path);
            Err(old(path, &format!("{} is missing, so nobody can tell how old it is", missing.display())))
        }
        Err(StoreError::Old(why)) => Err(old(path, &why)),
        Err(why) => Err(why),
    }
}

/// From here on the position is kept and the files are watched.
fn keep(connection: &mut SqliteConnection, file: &DatabaseFile, health: &Health) -> Result<(), StoreError> {
    let position = now(Position::of(connection, tx::LANE))?;
    let path = PositionFile::beside(&file.path);
    let kept_in = match file.opening.adopt {
        true => KeptIn::NewEpoch(path),
        false => KeptIn::File(PositionFile::begin(path, &position)?),
    };
    connection.keeper = Some(Keeper::new(position, kept_in, health.clone()));
    let watch = FileWatch::of(&file.path, health.clone());
    connection.watch = Some(watch.map_err(|why| StoreError::Options(format!("{}: {why}", file.path.display())))?);
    Ok(())
}

fn old(path: &Path, why: &str) -> StoreError {
    StoreError::Old(format!("{}: {why}", path.display()))
}

/// A lost log is one reason why a file ends early.
fn with_log_damage(why: StoreError, log: Option<&str>) -> StoreError {
    match (why, log) {
        (StoreError::Old(why), Some(log)) => StoreError::Old(format!("{why}; {log}")),
        (why, _) => why,
    }
}

/// SQLite's futures never wait.
fn now<T>(answer: impl Future<Output = Result<T, StoreFailure>>) -> Result<T, StoreError> {
    let waits = || Err(StoreFailure::Refused("a read did not finish".into()));
    Ok(answer.now_or_never().unwrap_or_else(waits)?)
}

/// Creates a missing file readable by its owner only; SQLite gives its companions the same mode.
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

fn unreadable(path: &Path, why: &rusqlite::Error) -> StoreError {
    let log = companion(path, "-wal");
    StoreError::NoDatabase(format!("{} cannot be read: {why} (its log is {})", path.display(), log.display()))
}
