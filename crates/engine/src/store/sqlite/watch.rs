//! The identity of the files while they are written: a file deleted, replaced or overwritten from outside takes the
//! node out of service, because nobody would find its later commits.

use super::{companion, header};
use crate::store::{error::StoreFailure, health::Health};
use std::{
    fs::{File, Metadata},
    io::Read as _,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

pub(super) struct FileWatch {
    database: PathBuf,
    log: PathBuf,
    opened: Identity,
    opened_log: Option<Identity>,
    /// The state after this node's last write. There is no other writer: checkpoints are part of this node's commits.
    left: Option<Trace>,
    health: Health,
}

/// Device and inode: another file of the same name has others.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Identity(u64, u64);

#[derive(Clone, Copy, PartialEq, Eq)]
struct Trace {
    modified: (i64, i64),
    length: u64,
}

impl FileWatch {
    /// To be called when the database is open for writing and the log exists.
    pub(super) fn of(database: &Path, health: Health) -> std::io::Result<Self> {
        let (log, found) = (companion(database, "-wal"), std::fs::metadata(database)?);
        Ok(Self {
            opened: Identity::of(&found),
            opened_log: std::fs::metadata(&log).ok().as_ref().map(Identity::of),
            left: Some(Trace::of(&found)),
            database: database.to_owned(),
            log,
            health,
        })
    }

    /// Before a transaction: are these still the same files, unchanged since the last write?
    pub(super) fn check_unchanged(&self) -> Result<(), StoreFailure> {
        self.health.check()?;
        let found = self.same_files()?;
        if self.left.is_some_and(|left| left != Trace::of(&found)) {
            return Err(self.fault("was written by another program"));
        }
        Ok(())
    }

    /// After a commit: durable data is in files that other processes find, too.
    pub(super) fn note_written(&mut self) -> Result<(), StoreFailure> {
        let found = self.same_files()?;
        self.left = Some(Trace::of(&found));
        Ok(())
    }

    /// Between transactions, every few seconds: also the first bytes.
    pub(super) fn check_header(&self) -> Result<(), StoreFailure> {
        self.check_unchanged()?;
        let mut header = [0; 16];
        let read = File::open(&self.database).and_then(|mut file| file.read_exact(&mut header));
        if read.is_err() || !header::is_header(&header) {
            return Err(self.fault("was overwritten"));
        }
        Ok(())
    }

    fn same_files(&self) -> Result<Metadata, StoreFailure> {
        let Ok(found) = std::fs::metadata(&self.database) else { return Err(self.fault("was deleted")) };
        if Identity::of(&found) != self.opened {
            return Err(self.fault("was replaced by another file"));
        }
        let log = std::fs::metadata(&self.log).ok().as_ref().map(Identity::of);
        if self.opened_log.is_some() && log != self.opened_log {
            return Err(self.fault("has lost its write-ahead log (-wal)"));
        }
        Ok(found)
    }

    fn fault(&self, how: &str) -> StoreFailure {
        self.health.fail(format!(
            "the database {} {how} while this node had it open; stop the node, restore the right file, and start it \
             again: it checks the file",
            self.database.display()
        ))
    }
}

impl Identity {
    fn of(found: &Metadata) -> Self {
        Self(found.dev(), found.ino())
    }
}

impl Trace {
    fn of(found: &Metadata) -> Self {
        Self { modified: (found.mtime(), found.mtime_nsec()), length: found.len() }
    }
}
