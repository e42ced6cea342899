//! Several processes on one SQLite file: a running node, and commands beside it.

use crate::cli_folder::{Folder, Ran, Served, example};
use countersign_protocol::{evidence, hash::Digest};
use rusqlite::{Connection, OpenFlags};
use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
};

const ROUNDS: usize = 12;

///
#[test]
fn commands_beside_a_busy_node_lose_nothing_and_leave_one_chain_without_a_hole() {
    let folder = Folder::with_project("together");
    let node = folder.serve(&[]);
    let admin = folder.json("key add --kind admin --principal load --responsible alice");
    let admin = admin["secret"].as_str().unwrap();
    let (over, applied) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        for n in 0..3 {
            let (node, over, applied) = (&node, &over, &applied);
            scope.spawn(move || busy(node, admin, n, over, applied));
        }
        let commands = [scope.spawn(|| add_people(&folder)), scope.spawn(|| add_keys(&folder))];
        commands.into_iter().for_each(|command| command.join().unwrap());
        over.store(true, Ordering::SeqCst);
    });
    assert_eq!(folder.json("user list").as_array().unwrap().len(), 1 + ROUNDS);
    assert_eq!(folder.json("key list").as_array().unwrap().len(), 1 + ROUNDS);
    assert_eq!(node.ends_by("TERM").0, 0);
    let applied = applied.into_inner();
    assert!(applied > 0, "the node was not busy");
    assert_chain(&folder, 2 + ROUNDS + applied);
}

///
#[test]
fn commands_that_start_at_the_same_moment_on_a_new_database_agree_on_one_set_of_keys() {
    for round in 0..4 {
        let folder = Folder::new(&format!("together-new-{round}"));
        folder.does("init");
        assert_at_once(&folder, "keys list --json");
    }
}

#[tokio::test]
async fn on_postgresql_commands_and_nodes_share_everything_too_and_its_password_is_not_shown() {
    let url = countersign_testkit::postgres::fresh_database().await.replace("postgres@", "postgres:hunter2@");
    let folder = Folder::new("together-postgres");
    folder.write("countersign.toml", &format!("[store]\nkind = \"postgres\"\nurl = \"{url}\"\n"));
    folder.does("init");
    assert_at_once(&folder, "keys list --json");
    folder.does(&format!("project apply {}", example().display()));
    folder.does_as("user add alice --role admin --role user");
    let node = folder.serve(&[]);
    assert!(node.said.contains("store: postgres, ") && !node.said.contains("hunter2"), "{}", node.said);
    let admin = folder.json("key add --kind admin --principal load --responsible alice");
    let headers = format!("Authorization: Bearer {}\r\nAap-Version: 2.0\r\n", admin["secret"].as_str().unwrap());
    assert_eq!(node.ask("GET", "/v1/project", &headers, "").status, 200);
    folder.does(&format!("key revoke {}", admin["id"].as_str().unwrap()));
    assert_eq!(node.ask("GET", "/v1/project", &headers, "").status, 403);
    let (code, log) = node.ends_by("TERM");
    assert!(code == 0 && !log.contains("hunter2"), "{log}");
}

/// Runs a command four times concurrently; all runs succeed with the same output.
fn assert_at_once(folder: &Folder, arguments: &str) {
    let ran: Vec<Ran> = thread::scope(|scope| {
        let running: Vec<_> = (0..4).map(|_| scope.spawn(|| folder.run(arguments))).collect();
        running.into_iter().map(|ran| ran.join().unwrap()).collect()
    });
    for other in &ran {
        assert_eq!((other.code, other.err.as_str()), (0, ""));
        assert_eq!(other.out, ran[0].out);
    }
}

/// Changes the project over HTTP as fast as possible; each change appends an evidence entry.
fn busy(node: &Served, admin: &str, n: usize, over: &AtomicBool, applied: &AtomicUsize) {
    let headers = format!("Authorization: Bearer {admin}\r\nAap-Version: 2.0\r\n");
    let mut document = node.ask("GET", "/v1/project", &headers, "").json()["document"].clone();
    for round in 0.. {
        if over.load(Ordering::SeqCst) {
            return;
        }
        document["display_name"] = format!("Calendar {n} {round}").into();
        let answer = node.ask("PUT", "/v1/project", &headers, &document.to_string());
        // All clients change the same row: after eight lost races a client gets 503 and may retry.
        match answer.status {
            200 => applied.fetch_add(1, Ordering::SeqCst),
            503 => 0,
            _ => panic!("{}: {}", answer.status, answer.body),
        };
    }
}

fn add_people(folder: &Folder) {
    for n in 0..ROUNDS {
        folder.does_as(&format!("user add person{n} --role user"));
    }
}

fn add_keys(folder: &Folder) {
    for n in 0..ROUNDS {
        folder.does(&format!("key add --kind agent --principal bot{n} --responsible alice --json"));
    }
}

/// Recomputes the project's hash chain from the database file.
fn assert_chain(folder: &Folder, entries: usize) {
    let database = Connection::open_with_flags(folder.0.join("countersign.db"), OpenFlags::SQLITE_OPEN_READ_ONLY);
    let database = database.unwrap();
    let mut lines = database.prepare("SELECT pos, seq, leaf, hash FROM evidence ORDER BY pos").unwrap();
    let lines = lines.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))).unwrap();
    let lines: Vec<(i64, i64, Vec<u8>, [u8; 32])> = lines.map(Result::unwrap).collect();
    assert_eq!(lines.len(), entries);
    let mut chain = Digest([0; 32]);
    for (n, (pos, seq, leaf, hash)) in (1..).zip(&lines) {
        assert_eq!((*pos, *seq), (n, n));
        assert_eq!(evidence::leaf_hash(leaf).0, *hash);
        chain = evidence::chain(&chain, n, &Digest(*hash));
    }
    let head = database.query_row("SELECT next_seq, chain FROM lane_heads", [], |row| Ok((row.get(0)?, row.get(1)?)));
    assert_eq!(head.unwrap(), (lines.len() as i64 + 1, chain.0));
}
