//! The position on disk: two slots, written in turn, each with a checksum, so that one of them is always readable.

use super::{LastEntry, Position};
use crate::store::StoreError;
use countersign_protocol::hash::Digest;
use std::{
    ffi::OsString,
    fs::{File, OpenOptions},
    io::ErrorKind,
    os::unix::fs::{FileExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

const MAGIC: i64 = i64::from_be_bytes(*b"csgnpos1");
/// The two slots are in different blocks: a torn write of one leaves the other.
const APART: u64 = 4096;
const LENGTH: usize = 200;

pub(crate) struct PositionFile {
    path: PathBuf,
    file: File,
    /// Counts the writes; the higher of the two is the newer.
    serial: i64,
}

impl PositionFile {
    /// `countersign.db.position`.
    pub(crate) fn beside(database: &Path) -> PathBuf {
        companion(database, ".position")
    }

    /// The position kept in a file; None without a file, or without a readable slot.
    pub(crate) fn read(path: &Path) -> Result<Option<Position>, StoreError> {
        match File::open(path) {
            Ok(file) => Ok(newest(&file).map(|(_, position)| position)),
            Err(why) if why.kind() == ErrorKind::NotFound => Ok(None),
            Err(why) => Err(unusable(path, &why)),
        }
    }

    /// Opens the file for writing, created if it is missing, and writes the present position durably.
    pub(crate) fn begin(path: PathBuf, position: &Position) -> Result<Self, StoreError> {
        let unusable = |why| unusable(&path, &why);
        let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
        let file = options.map_err(unusable)?;
        let serial = newest(&file).map_or(0, |(serial, _)| serial);
        let mut kept = Self { path: path.clone(), file, serial };
        // Both, so that neither has another epoch.
        kept.write(position).and_then(|()| kept.write(position)).and_then(|()| kept.sync()).map_err(unusable)?;
        let _best_effort = sync_folder_of(&path);
        Ok(kept)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn write(&mut self, position: &Position) -> std::io::Result<()> {
        self.serial = self.serial.saturating_add(1);
        let place = self.serial.unsigned_abs() % 2;
        self.file.write_all_at(&encoded(self.serial, position), place * APART)
    }

    pub(crate) fn sync(&self) -> std::io::Result<()> {
        self.file.sync_data()
    }
}

fn newest(file: &File) -> Option<(i64, Position)> {
    let read = |place: u64| {
        let mut bytes = [0; LENGTH];
        file.read_exact_at(&mut bytes, place * APART).ok()?;
        decoded(&bytes)
    };
    [read(0), read(1)].into_iter().flatten().max_by_key(|(serial, position)| (position.epoch, *serial))
}

fn encoded(serial: i64, position: &Position) -> Vec<u8> {
    let Position { database, epoch, lane, commits, mark } = position;
    let nothing = Digest([0; 32]);
    let none = LastEntry { lane: 0, pos: 0, leaf: nothing, project: 0, seq: 0, chain: nothing };
    let mark = mark.unwrap_or(none);
    let mut bytes = Vec::with_capacity(LENGTH);
    for number in [MAGIC, serial, *epoch, *lane, *commits, mark.lane, mark.pos, mark.project, mark.seq] {
        bytes.extend(number.to_be_bytes());
    }
    for digest in [database, &mark.leaf, &mark.chain] {
        bytes.extend(digest.0);
    }
    let sum = Digest::of(&bytes);
    bytes.extend(sum.0);
    bytes
}

fn decoded(bytes: &[u8; LENGTH]) -> Option<(i64, Position)> {
    let (said, sum) = bytes.split_last_chunk::<32>()?;
    if Digest::of(said).0 != *sum {
        return None;
    }
    let (numbers, digests) = said.split_at_checked(72)?;
    let numbers: Vec<i64> = numbers.as_chunks::<8>().0.iter().map(|chunk| i64::from_be_bytes(*chunk)).collect();
    let digests: Vec<Digest> = digests.as_chunks::<32>().0.iter().map(|chunk| Digest(*chunk)).collect();
    let [MAGIC, serial, epoch, lane, commits, mark_lane, pos, project, seq] = numbers[..] else { return None };
    let [database, leaf, chain] = digests[..] else { return None };
    let mark = (pos > 0).then_some(LastEntry { lane: mark_lane, pos, leaf, project, seq, chain });
    Some((serial, Position { database, epoch, lane, commits, mark }))
}

/// `countersign.db-wal` and the like.
pub(crate) fn companion(database: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(database);
    name.push(end);
    name.into()
}

/// So that a file's name survives a loss of power as well.
pub(crate) fn sync_folder_of(path: &Path) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

fn unusable(path: &Path, why: &std::io::Error) -> StoreError {
    StoreError::Options(format!("the last position cannot be kept in {}: {why}", path.display()))
}

#[cfg(test)]
mod tests;
