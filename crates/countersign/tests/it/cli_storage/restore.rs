//! Backups, and restoring from one.

use super::{database, signs_in};
use crate::{
    cli_folder::{Folder, Served},
    cli_inbox::Asked,
};
use countersign_testkit::postgres;
use serde_json::json;
use std::{fs, os::unix::fs::PermissionsExt as _};

const LISTEN: (&str, &str) = ("COUNTERSIGN_LISTEN__PUBLIC", "127.0.0.1:0");

/// Tries to claim the approval of a letter; returns status and body.
fn claims(node: &Served, key: &str, id: &str) -> (u16, String) {
    let claim = json!({ "tool": "mail.send", "arguments": { "text": "the letter" } }).to_string();
    let answer =
        node.ask("POST", &format!("/v1/decisions/{id}/claim"), &format!("Authorization: Bearer {key}\r\n"), &claim);
    (answer.status, answer.body)
}

///
#[test]
fn an_approval_that_was_used_after_the_backup_is_not_used_again_after_a_restore() {
    let asked = Asked::new("restore");
    let id = asked.asks("the letter");
    assert_eq!(asked.inbox(&["answer", &id, "yes"], &[]).code, 0);
    let said = asked.folder.does("backup backup.db");
    assert!(said.starts_with("wrote backup.db: "), "{said}");
    let Asked { folder, node, key, token } = asked;
    assert_eq!(claims(&node, &key, &id).0, 200);

    let running = folder.run("restore backup.db").refused();
    assert!(running.err.contains(&format!("is in use by process {}", node.pid())), "{}", running.err);
    assert_eq!(node.ends_by("TERM").0, 0);

    let newest = fs::read(database(&folder.0)).unwrap();
    fs::copy(folder.0.join("backup.db"), database(&folder.0)).unwrap();
    let ran = folder.run_with("serve", &[LISTEN]).refused();
    assert!(ran.err.starts_with("error: this database is not the newest one: "), "{}", ran.err);
    fs::write(database(&folder.0), &newest).unwrap();

    let said = folder.does("restore backup.db");
    assert!(
        said.contains("suspended: 0 delegations, 1 API keys\nended: 0 open questions, 1 unused approvals"),
        "{said}"
    );
    let aside = said.split("kept as ").nth(1).unwrap().lines().next().unwrap();
    assert_eq!(fs::read(folder.0.join(aside)).unwrap(), newest, "what was there is kept");
    let node = folder.serve(&[]);
    let (status, body) = claims(&node, &key, &id);
    assert!(status == 403 && body.contains("suspended since a restore"), "{status}: {body}");
    let listens = format!("Authorization: Bearer {token}\r\n");
    assert_eq!(node.ask("GET", "/aaep/v1/questions", &listens, "").status, 401);
    assert!(folder.does("key lift --all").contains(" of bot is in use\n"));
    assert_eq!(claims(&node, &key, &id).0, 409, "it was used twice");
    assert_eq!(node.ends_by("TERM").0, 0);
    assert_eq!(folder.serve(&[]).ends_by("TERM").0, 0, "its own position is known from here on");
}

///
#[test]
fn a_backup_is_whole_for_its_owner_only_and_never_over_another_file() {
    let folder = Folder::with_project("storage-backup");
    let node = folder.serve(&[]);
    assert_eq!(signs_in(&node), 201);
    folder.does("backup first.db");
    let mode = fs::metadata(folder.0.join("first.db")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let again = folder.run("backup first.db");
    assert!(again.code == 1 && again.err.contains("name a file that does not exist yet"), "{}", again.err);
    assert_eq!(node.ask_at("operations", "GET", "/readyz", "", "").status, 200, "the node goes on");
    assert_eq!(signs_in(&node), 201);
    assert_eq!(node.ends_by("TERM").0, 0);
    let damaged = fs::read(folder.0.join("first.db")).unwrap();
    fs::write(folder.0.join("half.db"), &damaged[..damaged.len() / 2]).unwrap();
    for (file, why) in [("half.db", "it is shorter than its header says"), ("none.db", "there is no none.db")] {
        let ran = folder.run(&format!("restore {file}"));
        assert!(ran.code == 1 && ran.err.contains(why), "{}", ran.err);
    }
    assert_eq!(folder.serve(&[]).ends_by("TERM").0, 0, "a restore that failed changed nothing");
}

///
#[test]
fn a_file_that_was_copied_by_hand_is_adopted_in_a_new_epoch() {
    let folder = Folder::with_project("storage-adopt");
    let key = folder.json("key add --kind admin --principal ops --responsible alice");
    let bearer = format!("Authorization: Bearer {}\r\nAap-Version: 2.0\r\n", key["secret"].as_str().unwrap());
    fs::remove_file(folder.0.join("countersign.db.position")).unwrap();
    let said = folder.does("restore --adopt");
    assert!(said.contains("suspended: 0 delegations, 1 API keys\n"), "{said}");
    let node = folder.serve(&[]);
    assert_eq!(node.ask("GET", "/v1/project", &bearer, "").status, 403);
    folder.does(&format!("key lift {}", key["id"].as_str().unwrap()));
    assert_eq!(node.ask("GET", "/v1/project", &bearer, "").status, 200);
    assert!(folder.json("key list")[0]["suspended_at"].is_null());
}

///
#[tokio::test]
async fn a_postgresql_database_that_was_brought_back_is_adopted_while_no_node_runs() {
    let url = postgres::fresh_database().await;
    let folder = Folder::with_project_on("storage-adopt-postgres", &url, "");
    folder.does_as("user add alice --role admin --role user");
    let copy = postgres::copy_of(&url).await;
    let node = folder.serve(&[]);
    assert_eq!(signs_in(&node), 201);
    let other = Folder::new("storage-adopt-postgres-other");
    other.configure_postgres(&url, "");
    fs::copy(folder.0.join("countersign.key"), other.0.join("countersign.key")).unwrap();
    let ran = other.run("restore --adopt");
    assert!(ran.code == 1 && ran.err.contains("nodes are running on this database"), "{}", ran.err);
    assert_eq!(node.ends_by("TERM").0, 0);
    folder.configure_postgres(&copy, "");
    assert_eq!(folder.run_with("serve", &[LISTEN]).code, 1);
    let said = folder.does("restore --adopt");
    assert!(said.contains("epoch ") && said.contains("the sign-ins and subscriber tokens of 1 people"), "{said}");
    let node = folder.serve(&[]);
    assert_eq!(signs_in(&node), 201);
    assert_eq!(node.ends_by("TERM").0, 0);
    let ran = folder.run("backup copy.db");
    assert!(ran.code == 1 && ran.err.contains("pg_dump --format=custom"), "{}", ran.err);
}
