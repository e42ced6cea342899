//! A consistent copy of a database, made while a node goes on writing.

use super::header::{self, Found};
use crate::store::{
    StoreError,
    position::{companion, sync_folder_of},
};
use rusqlite::{Connection, OpenFlags};
use std::{
    fs::{File, OpenOptions},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

/// Copies a SQLite database into a new file that only its owner can read. Blocks until the copy is whole, checked and
/// durable.
pub fn back_up(database: &Path, target: &Path) -> Result<(), StoreError> {
    if header::probe(database)? == Found::Nothing {
        return Err(StoreError::Missing(format!("there is no database {}", database.display())));
    }
    let trouble = |why: String| StoreError::Unavailable(format!("{} was not made: {why}", target.display()));
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(target);
    made.map_err(|why| trouble(format!("{why}; name a file that does not exist yet")))?;
    let copied = copy(database, target);
    copied.inspect_err(|_| drop(std::fs::remove_file(target))).map_err(|why| trouble(why.to_string()))
}

fn copy(database: &Path, target: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let source = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let name = target.to_str().ok_or("its name is not UTF-8")?;
    // One read transaction: everything as of its beginning.
    source.execute("VACUUM INTO ?1", [name])?;
    check_copy(target)?;
    File::open(target)?.sync_all()?;
    Ok(sync_folder_of(target)?)
}

/// Whether a file is a whole database.
fn check_copy(path: &Path) -> Result<(), StoreError> {
    let damaged = |why: String| StoreError::NoDatabase(format!("{} is no whole database: {why}", path.display()));
    if header::probe(path)? == Found::Nothing {
        return Err(StoreError::Missing(format!("there is no {}", path.display())));
    }
    let opened = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY);
    let check = opened.and_then(|copy| copy.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0)));
    match check {
        Ok(found) if found == "ok" => Ok(()),
        Ok(found) => Err(damaged(found)),
        Err(why) => Err(damaged(why.to_string())),
    }
}

/// A backup on its way to the place of the database: it is prepared under another name.
pub struct Staged {
    database: PathBuf,
    staged: PathBuf,
}

/// The files of a database.
const ENDS: [&str; 4] = ["", "-wal", "-shm", ".position"];

impl Staged {
    /// Copies a backup beside the database.
    pub fn copy(backup: &Path, database: &Path) -> Result<Self, StoreError> {
        check_copy(backup)?;
        let staged = companion(database, ".restoring");
        let here = Self { database: database.to_owned(), staged };
        here.remove();
        here.write(backup).map_err(|why| here.not_in_place(&why))?;
        Ok(here)
    }

    fn write(&self, backup: &Path) -> std::io::Result<()> {
        let options = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&self.staged);
        let mut copy = options?;
        std::io::copy(&mut File::open(backup)?, &mut copy)?;
        copy.sync_all()
    }

    /// Its temporary path.
    pub fn path(&self) -> &Path {
        &self.staged
    }

    /// Moves the present files aside, under names that end in `aside`, and the copy to its place. At no moment could a node
    /// serve a wrong database: without one it does not start, and the copy has its new epoch already.
    pub fn put_in_place(self, aside: &str) -> Result<(), StoreError> {
        let moved = self.rename(aside);
        self.remove();
        moved.map_err(|why| self.not_in_place(&why))
    }

    fn rename(&self, aside: &str) -> std::io::Result<()> {
        for end in ["", "-wal", "-shm"] {
            let old = companion(&self.database, end);
            if old.exists() {
                std::fs::rename(&old, companion(&self.database, &format!("{end}.{aside}")))?;
            }
        }
        std::fs::rename(&self.staged, &self.database)?;
        std::fs::rename(companion(&self.staged, ".position"), companion(&self.database, ".position"))?;
        sync_folder_of(&self.database)
    }

    fn remove(&self) {
        for end in ENDS.iter().chain(&[".lock"]) {
            let _if_there = std::fs::remove_file(companion(&self.staged, end));
        }
    }

    fn not_in_place(&self, why: &std::io::Error) -> StoreError {
        StoreError::Options(format!("{} could not be put in place: {why}", self.database.display()))
    }
}
