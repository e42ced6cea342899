//! Outdated data is detected: old copies put back, and lost logs.

use super::{database, log, signs_in};
use crate::cli_folder::Folder;
use countersign_testkit::postgres;
use std::fs;

const LISTEN: (&str, &str) = ("COUNTERSIGN_LISTEN__PUBLIC", "127.0.0.1:0");

/// Node and commands refuse the database and print the reason and a hint.
fn is_refused(folder: &Folder, why: &str) {
    for command in ["serve", "serve --create", "user list"] {
        let ran = folder.run_with(command, &[LISTEN]).refused();
        assert!(ran.err.starts_with("error: this database is not the newest one: "), "{}", ran.err);
        assert!(ran.err.contains(why), "{why} is not in {}", ran.err);
        assert!(ran.err.contains("`countersign restore --adopt`"), "{}", ran.err);
    }
}

///
#[test]
fn a_copy_that_is_put_back_is_not_served() {
    let folder = Folder::with_project("storage-copy");
    assert_eq!(folder.serve(&[]).ends_by("TERM").0, 0);
    let copy = fs::read(database(&folder.0)).unwrap();
    let node = folder.serve(&[]);
    assert_eq!(signs_in(&node), 201);
    assert_eq!(node.ends_by("TERM").0, 0);
    let newest = fs::read(database(&folder.0)).unwrap();
    fs::write(database(&folder.0), copy).unwrap();
    is_refused(&folder, "countersign.db: it ends with commit ");
    fs::write(database(&folder.0), newest).unwrap();
    assert_eq!(folder.serve(&[]).ends_by("TERM").0, 0);
}

///
#[test]
fn a_log_that_is_lost_or_damaged_after_a_crash_is_noticed_and_one_that_is_whole_is_served() {
    let folder = Folder::with_project("storage-log");
    let node = folder.serve(&[]);
    assert_eq!(signs_in(&node), 201);
    node.dies();
    let whole = fs::read(log(&folder.0)).unwrap();
    assert!(!whole.is_empty(), "there is nothing to lose");
    fs::remove_file(log(&folder.0)).unwrap();
    is_refused(&folder, "; there is no write-ahead log beside it");
    let mut damaged = whole.clone();
    damaged[100..120].fill(0xAB);
    fs::write(log(&folder.0), damaged).unwrap();
    is_refused(&folder, "it ends with commit ");
    fs::write(log(&folder.0), whole).unwrap();
    assert_eq!(folder.serve(&[]).ends_by("TERM").0, 0);
}

///
#[test]
fn a_filled_database_without_its_position_counts_as_restored() {
    let folder = Folder::with_project("storage-position");
    fs::remove_file(folder.0.join("countersign.db.position")).unwrap();
    is_refused(&folder, "countersign.db.position is missing, so nobody can tell how old it is");
}

///
#[test]
fn a_copy_that_went_on_elsewhere_is_another_history() {
    let folder = Folder::with_project("storage-fork");
    let elsewhere = Folder::new("storage-fork-elsewhere");
    for name in ["countersign.toml", "countersign.key", "countersign.db", "countersign.db.position"] {
        fs::copy(folder.0.join(name), elsewhere.0.join(name)).unwrap();
    }
    for name in ["bot1", "bot2"] {
        folder.does(&format!("key add --kind agent --principal {name} --responsible alice"));
        elsewhere.does(&format!("key add --kind agent --principal {name} --responsible alice"));
    }
    elsewhere.does("key add --kind agent --principal bot3 --responsible alice");
    fs::copy(database(&elsewhere.0), database(&folder.0)).unwrap();
    is_refused(&folder, "of its evidence is not the one that was acknowledged");
}

///
#[tokio::test]
async fn on_postgresql_a_database_that_was_brought_back_is_not_served_and_a_new_node_needs_a_live_one() {
    let url = postgres::fresh_database().await;
    let folder = Folder::with_project_on("storage-postgres", &url, "");
    folder.does_as("user add alice --role admin --role user");
    let copy = postgres::copy_of(&url).await;
    let node = folder.serve(&[]);
    assert_eq!(signs_in(&node), 201);

    let newcomer = Folder::new("storage-postgres-newcomer");
    newcomer.configure_postgres(&url, "");
    fs::copy(folder.0.join("countersign.key"), newcomer.0.join("countersign.key")).unwrap();
    assert_eq!(newcomer.serve(&[]).ends_by("TERM").0, 0, "a live node vouches");
    fs::remove_file(newcomer.0.join("countersign.position")).unwrap();
    assert_eq!(node.ends_by("TERM").0, 0);
    let ran = newcomer.run_with("serve", &[LISTEN]).refused();
    assert!(ran.err.contains("no other node is running that would vouch for it"), "{}", ran.err);

    folder.configure_postgres(&copy, "");
    is_refused(&folder, "it ends with commit ");
    folder.configure_postgres(&url, "");
    assert_eq!(folder.serve(&[]).ends_by("TERM").0, 0);
}
