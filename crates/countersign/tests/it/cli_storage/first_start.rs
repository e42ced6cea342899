//! A first start must be explicit, and keys are readable by their owner only.

use crate::cli_folder::Folder;
use std::{fs, os::unix::fs::PermissionsExt as _};

const LISTEN: (&str, &str) = ("COUNTERSIGN_LISTEN__PUBLIC", "127.0.0.1:0");

///
#[test]
fn a_missing_database_is_an_error_and_none_is_made_unless_asked_for() {
    let folder = Folder::new("storage-first");
    folder.does("init");
    fs::remove_file(folder.0.join("countersign.db")).unwrap();
    for command in ["serve", "user list", "keys rotate"] {
        let ran = folder.run_with(command, &[LISTEN]).refused();
        assert!(ran.err.starts_with("error: there is no database countersign.db\n"), "{}", ran.err);
        assert!(ran.err.contains("`countersign init` or `countersign serve --create`"), "{}", ran.err);
        assert!(!folder.0.join("countersign.db").exists(), "{command} made one");
    }
    assert_eq!(folder.serve_created().ends_by("TERM").0, 0);
    assert_eq!(folder.serve(&[]).ends_by("TERM").0, 0);
}

///
#[test]
fn where_a_database_was_no_new_one_is_made_not_even_when_asked_for() {
    let folder = Folder::with_project("storage-gone");
    fs::remove_file(folder.0.join("countersign.db")).unwrap();
    for command in ["serve --create", "init", "user list"] {
        let ran = folder.run_with(command, &[LISTEN]);
        assert_eq!(ran.code, 1, "{command}");
        assert!(ran.err.contains("the database countersign.db is gone: "), "{}", ran.err);
        assert!(ran.err.contains("`countersign restore FILE`"), "{}", ran.err);
        assert!(!folder.0.join("countersign.db").exists(), "{command} made one");
    }
}

///
#[tokio::test]
async fn in_postgresql_tables_are_made_only_when_asked_for() {
    let url = countersign_testkit::postgres::fresh_database().await;
    let folder = Folder::new("storage-first-postgres");
    folder.write("countersign.toml", &format!("[store]\nkind = \"postgres\"\nurl = \"{url}\"\n"));
    let key = [("COUNTERSIGN_KEYS__ENVIRONMENT", "SEALING"), ("SEALING", &"07".repeat(32)), LISTEN];
    let ran = folder.run_with("serve", &key).refused();
    assert!(
        ran.err.starts_with("error: there are no tables of countersign in the PostgreSQL database\n"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("`countersign init` or `countersign serve --create`"), "{}", ran.err);
    folder.does("init");
    assert_eq!(folder.serve(&[]).ends_by("TERM").0, 0);
}

///
#[test]
fn a_key_that_others_can_read_is_refused_with_the_command_that_mends_it() {
    let folder = Folder::ready("storage-key");
    let key = folder.0.join("countersign.key");
    for mode in [0o640, 0o604, 0o620] {
        fs::set_permissions(&key, fs::Permissions::from_mode(mode)).unwrap();
        for command in ["serve", "keys list"] {
            let ran = folder.run_with(command, &[LISTEN]).refused();
            assert!(ran.err.starts_with("error: others than its owner can read the key file countersign.key\n"));
            assert!(ran.err.contains("\nhint: chmod 600 countersign.key; "), "{}", ran.err);
        }
    }
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(folder.serve(&[]).ends_by("TERM").0, 0);
}
