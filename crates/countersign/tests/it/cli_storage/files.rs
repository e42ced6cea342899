//! File accidents: before a start, and under a running node.

use super::{database, log, signs_in};
use crate::cli_folder::{Folder, Served};
use std::{fs, io::Write as _, path::Path};

fn ready(node: &Served) -> (u16, String) {
    let answer = node.ask_at("operations", "GET", "/readyz", "", "");
    (answer.status, answer.body)
}

/// Damages the files of a running node; from then on it acknowledges nothing and reports the reason.
fn leaves_service(name: &str, accident: impl FnOnce(&Path), why: &str) {
    let folder = Folder::with_project(name);
    let node = folder.serve(&[]);
    assert_eq!((signs_in(&node), ready(&node).0), (201, 200), "before");
    accident(&folder.0);
    assert_eq!(signs_in(&node), 503, "it acknowledged what nobody will find");
    let (status, told) = ready(&node);
    assert!(status == 503 && told.contains(why), "{status}: {told}");
    assert_eq!(signs_in(&node), 503);
    let (_, log) = node.ends_by("TERM");
    assert!(log.contains(why), "{log}");
}

///
#[test]
fn a_database_that_is_deleted_under_a_node_takes_it_out_of_service() {
    leaves_service(
        "storage-deleted",
        |folder| fs::remove_file(database(folder)).unwrap(),
        "was deleted while this node",
    );
}

///
#[test]
fn a_database_that_is_replaced_under_a_node_takes_it_out_of_service() {
    let replace = |folder: &Path| {
        fs::copy(database(folder), folder.join("other.db")).unwrap();
        fs::rename(folder.join("other.db"), database(folder)).unwrap();
    };
    leaves_service("storage-replaced", replace, "was replaced by another file while this node");
}

///
#[test]
fn a_database_that_is_overwritten_under_a_node_takes_it_out_of_service() {
    let overwrite = |folder: &Path| {
        let same = fs::read(database(folder)).unwrap();
        fs::write(database(folder), same).unwrap();
    };
    leaves_service("storage-overwritten", overwrite, "was written by another program while this node");
}

///
#[test]
fn a_write_ahead_log_that_is_deleted_under_a_node_takes_it_out_of_service() {
    leaves_service("storage-log-gone", |folder| fs::remove_file(log(folder)).unwrap(), "has lost its write-ahead log");
}

///
#[test]
fn a_damaged_or_truncated_database_is_not_served() {
    let folder = Folder::with_project("storage-garbage");
    let whole = fs::read(database(&folder.0)).unwrap();
    for (bytes, why) in [
        (b"not a database, but long enough to have a header".repeat(9), "its first bytes are something else"),
        (whole[..50].to_vec(), "it is shorter than the header of one"),
        (whole[..whole.len() / 2].to_vec(), "it is shorter than its header says"),
    ] {
        fs::write(database(&folder.0), bytes).unwrap();
        let ran = folder.run("serve").refused();
        assert!(ran.err.starts_with(&format!("error: countersign.db is no database: {why}\n")), "{}", ran.err);
        assert!(ran.err.contains("`countersign restore FILE`"), "{}", ran.err);
    }
    fs::write(database(&folder.0), whole).unwrap();
    assert_eq!(folder.serve(&[]).ends_by("TERM").0, 0);
}

///
#[test]
fn the_whole_file_is_checked_while_the_node_serves_and_readiness_tells() {
    let folder = Folder::with_project("storage-check");
    let node = folder.serve(&[]);
    let sound = (0..500).any(|_| {
        let (status, lines) = ready(&node);
        status == 200 && lines.starts_with("ready\nquick_check: ok\n")
    });
    assert!(sound, "{:?}", ready(&node));
    assert_eq!(node.ends_by("TERM").0, 0);
    spoil_a_page(&database(&folder.0), "imported_confirms");
    let node = folder.serve(&[]);
    let told = (0..500).map(|_| ready(&node)).find(|(status, _)| *status == 503);
    assert!(told.is_some_and(|(_, why)| why.starts_with("the database is damaged: ")), "it was not noticed");
    assert_eq!(signs_in(&node), 503);
}

/// Overwrites the first page of a table that no request needs.
fn spoil_a_page(database: &Path, table: &str) {
    let found = rusqlite::Connection::open(database).unwrap();
    let page = "SELECT rootpage FROM sqlite_master WHERE name = ?1";
    let page: u64 = found.query_row(page, [table], |row| row.get::<_, i64>(0)).unwrap().try_into().unwrap();
    let size: i64 = found.query_row("PRAGMA page_size", [], |row| row.get(0)).unwrap();
    drop(found);
    let size = u64::try_from(size).unwrap();
    let mut file = fs::OpenOptions::new().write(true).open(database).unwrap();
    std::io::Seek::seek(&mut file, std::io::SeekFrom::Start((page - 1) * size)).unwrap();
    file.write_all(&vec![0xAB; size as usize]).unwrap();
}
