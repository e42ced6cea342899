//! One SQLite file, one node: the node locks a file beside its database for as long as it has it open.
//!
//! The lock is the operating system's and ends with its process in any case. The content of the file only names the holder.

use crate::store::{StoreError, position::companion};
use countersign_protocol::time::UnixMillis;
use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{Read as _, Seek as _, Write as _},
    path::{Path, PathBuf},
};

/// The exclusive right to a database file, until it is dropped.
#[derive(Debug)]
pub struct DatabaseLock {
    _file: File,
}

/// The process that has the database open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// None while it is still taking the lock.
    pub pid: Option<u32>,
    pub since: Option<UnixMillis>,
}

#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("the database is in use by {0}")]
    Held(Holder),
    #[error("cannot lock {path}: {why}")]
    Unusable { path: PathBuf, why: std::io::Error },
}

impl DatabaseLock {
    /// Takes the lock of a database file, which need not exist, and notes its holder and the time.
    pub fn acquire(database: &Path, now: UnixMillis) -> Result<Self, LockError> {
        let path = beside(database);
        let unusable = |why| LockError::Unusable { path: path.clone(), why };
        let mut file = open(&path).map_err(unusable)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(LockError::Held(Holder::from_file(&mut file))),
            Err(TryLockError::Error(why)) => return Err(unusable(why)),
        }
        note(&mut file, now).map_err(unusable)?;
        Ok(Self { _file: file })
    }

    /// The present holder of the database, if any.
    pub fn holder(database: &Path) -> Result<Option<Holder>, LockError> {
        let path = beside(database);
        let unusable = |why| LockError::Unusable { path: path.clone(), why };
        let mut file = match File::open(&path) {
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(unusable)?,
        };
        // Shared, so that two queries at the same moment do not see each other.
        match file.try_lock_shared() {
            Ok(()) => Ok(None),
            Err(TryLockError::WouldBlock) => Ok(Some(Holder::from_file(&mut file))),
            Err(TryLockError::Error(why)) => Err(unusable(why)),
        }
    }
}

impl Holder {
    fn from_file(file: &mut File) -> Self {
        let mut text = String::new();
        let _unreadable_is_unknown = file.rewind().and_then(|()| file.read_to_string(&mut text));
        let after = |label: &str| text.lines().find_map(|line| line.strip_prefix(label)).map(str::trim);
        Self {
            pid: after("pid ").and_then(|pid| pid.parse().ok()),
            since: after("since ").and_then(UnixMillis::parse_rfc3339),
        }
    }
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.pid {
            Some(pid) => write!(f, "process {pid}")?,
            None => write!(f, "another process")?,
        }
        self.since.map_or(Ok(()), |since| write!(f, " since {}", since.to_rfc3339()))
    }
}

impl LockError {
    /// The same as a store error.
    pub fn store_error(self, database: &Path) -> StoreError {
        match self {
            Self::Held(holder) => StoreError::Held { path: database.to_owned(), holder },
            unusable @ Self::Unusable { .. } => {
                StoreError::Options(format!("{unusable}; its folder must exist and be writable"))
            }
        }
    }
}

/// `countersign.db.lock`, which stays: removing it would let two processes lock two files of that name.
fn beside(database: &Path) -> PathBuf {
    companion(&resolved(database), ".lock")
}

/// The target of a path: two links to one database must use one lock.
fn resolved(database: &Path) -> PathBuf {
    let folder = |path: &Path| match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.canonicalize(),
        _ => Path::new(".").canonicalize(),
    };
    database
        .canonicalize()
        .or_else(|_| Ok(folder(database)?.join(database.file_name().unwrap_or_default())))
        .unwrap_or_else(|_: std::io::Error| database.to_owned())
}

fn open(path: &Path) -> std::io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

fn note(file: &mut File, now: UnixMillis) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(format!("pid {}\nsince {}\n", std::process::id(), now.to_rfc3339()).as_bytes())
}

#[cfg(test)]
mod tests;
