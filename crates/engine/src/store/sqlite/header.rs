//! The first bytes of a database file and of its write-ahead log, read without SQLite.

use super::companion;
use crate::store::StoreError;
use std::{
    fs::File,
    io::{ErrorKind, Read as _},
    path::Path,
};

const MAGIC: &[u8; 16] = b"SQLite format 3\0";
const LENGTH: usize = 100;

/// The finding at the path of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// No file, or an empty one.
    Nothing,
    Database,
}

/// Whether there is a database, by its header. Any other file there is an error.
pub(super) fn probe(path: &Path) -> Result<Found, StoreError> {
    let mut file = match File::open(path) {
        Err(why) if why.kind() == ErrorKind::NotFound => return Ok(Found::Nothing),
        opened => opened.map_err(|why| unreadable(path, &why))?,
    };
    let length = file.metadata().map_err(|why| unreadable(path, &why))?.len();
    if length == 0 {
        return Ok(Found::Nothing);
    }
    let mut header = [0; LENGTH];
    file.read_exact(&mut header).map_err(|_| damaged(path, "it is shorter than the header of one"))?;
    if !is_header(&header) {
        return Err(damaged(path, "its first bytes are something else"));
    }
    // While a log exists, the file may still be growing to the size in its header.
    let logged = std::fs::metadata(companion(path, "-wal")).is_ok_and(|log| log.len() > 0);
    if !logged && length < declared_length(&header) {
        return Err(damaged(path, "it is shorter than its header says"));
    }
    Ok(Found::Database)
}

pub(super) fn is_header(header: &[u8]) -> bool {
    header.starts_with(MAGIC)
}

/// Page size times number of pages; 0 if the header's count is not from the last version that wrote the file.
fn declared_length(header: &[u8; LENGTH]) -> u64 {
    let number = |at: usize| header.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_be_bytes);
    let size = header.get(16..18).and_then(|b| b.try_into().ok()).map_or(0, u16::from_be_bytes);
    let size = if size == 1 { 65_536 } else { u64::from(size) };
    if number(24) == number(92) { size * u64::from(number(28)) } else { 0 }
}

const NO_LOG: &str = "there is no write-ahead log beside it";

/// The damage of the write-ahead log, to explain why a database ends early. To be called before SQLite opens the log: SQLite
/// reads it up to the first frame that does not fit, and says nothing.
pub(super) fn log_damage(database: &Path) -> Option<&'static str> {
    let Ok(mut log) = File::open(companion(database, "-wal")) else { return Some(NO_LOG) };
    let mut header = [0; 32];
    if log.read_exact(&mut header).is_err() {
        return Some(NO_LOG);
    }
    let words: Vec<u32> = header.as_chunks::<4>().0.iter().map(|word| u32::from_be_bytes(*word)).collect();
    let [magic, version, .., sum_0, sum_1] = words[..] else { return None };
    let sound = magic & !1 == 0x377f_0682 && version == 3_007_000;
    let fits = checksum(&header, magic & 1 == 1) == (sum_0, sum_1);
    (!sound || !fits).then_some("the write-ahead log beside it is damaged")
}

/// The checksum of a log's header: over its first 24 bytes, in the byte order that the magic number names.
fn checksum(header: &[u8; 32], big_endian: bool) -> (u32, u32) {
    let word = |bytes: &[u8; 4]| if big_endian { u32::from_be_bytes(*bytes) } else { u32::from_le_bytes(*bytes) };
    let pairs = header.as_chunks::<8>().0.iter().take(3);
    pairs.fold((0, 0), |(mut first, mut second): (u32, u32), pair| {
        let (halves, _) = pair.as_chunks::<4>();
        if let [left, right] = halves {
            first = first.wrapping_add(word(left)).wrapping_add(second);
            second = second.wrapping_add(word(right)).wrapping_add(first);
        }
        (first, second)
    })
}

fn unreadable(path: &Path, why: &std::io::Error) -> StoreError {
    StoreError::Options(format!(
        "cannot open the database {}: {why}; its folder must exist and be writable",
        path.display()
    ))
}

fn damaged(path: &Path, how: &str) -> StoreError {
    StoreError::NoDatabase(format!("{} is no database: {how}", path.display()))
}
