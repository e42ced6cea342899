//! An unreachable node, and shared databases.

use super::socket_of;
use crate::cli_folder::{Folder, Ran};
use std::{
    fs,
    io::{Read as _, Write as _},
    os::unix::{fs::DirBuilderExt as _, net::UnixListener},
    thread,
};

/// Runs a command against a fake node that sends its version, then this response.
fn run_against(folder: &Folder, then: &str, command: &str) -> Ran {
    let socket = socket_of(folder);
    fs::DirBuilder::new().mode(0o700).create(socket.parent().unwrap()).unwrap();
    let node = UnixListener::bind(socket).unwrap();
    thread::scope(|scope| {
        scope.spawn(move || {
            let (mut connection, _) = node.accept().unwrap();
            for answer in ["HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n9.9.9", then] {
                assert!(connection.read(&mut [0; 4096]).unwrap() > 0);
                connection.write_all(answer.as_bytes()).unwrap();
            }
        });
        folder.run(command)
    })
}

#[test]
fn a_node_that_goes_away_while_it_is_asked_may_have_done_it() {
    let folder = Folder::with_project("node-gone");
    let ran = run_against(&folder, "", "user disable alice");
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(ran.err.contains("did not respond; the command may have been carried out\nhint: "), "{}", ran.err);
}

#[test]
fn a_node_of_another_version_that_does_not_know_the_command_is_named() {
    let folder = Folder::with_project("node-version");
    let unknown = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n";
    let ran = run_against(&folder, unknown, "user disable alice");
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(ran.err.contains(" is countersign 9.9.9, and does not know this request of countersign "), "{}", ran.err);
    assert!(ran.err.contains("\nhint: restart the node"), "{}", ran.err);
}

///
#[test]
fn a_node_that_does_not_answer_is_named_and_nothing_is_done_past_it() {
    let folder = Folder::with_project("node-stopped");
    let node = folder.serve(&[]);
    node.signal("STOP");
    let ran = folder.run("user disable alice");
    node.signal("CONT");
    let expected = format!(
        "error: the node (process {}) does not respond at the operations socket; nothing was done\nhint: ",
        node.pid()
    );
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(ran.err.starts_with(&expected), "{}", ran.err);
    assert_eq!(folder.json("user list")[0]["disabled"], false);
}

///
#[test]
fn a_database_of_a_node_with_another_socket_is_not_opened_beside_it() {
    let folder = Folder::with_project("node-elsewhere");
    let node = folder.serve(&[("COUNTERSIGN_LISTEN__OPERATIONS_SOCKET", "elsewhere/socket")]);
    let ran = folder.run("user disable alice").refused();
    assert!(ran.err.contains(&format!("is in use by process {}", node.pid())), "{}", ran.err);
    assert!(ran.err.contains("\nhint: "), "{}", ran.err);
    let there = [("COUNTERSIGN_LISTEN__OPERATIONS_SOCKET", "elsewhere/socket")];
    assert_eq!(folder.run_with("user list", &there).code, 0);
}

#[tokio::test]
async fn on_postgresql_a_configured_socket_is_preferred_and_without_one_commands_open_the_database() {
    let url = countersign_testkit::postgres::fresh_database().await;
    let folder = Folder::with_project_on("node-postgres", &url, "[listen]\noperations_socket = \"run/socket\"\n");
    let node = folder.serve(&[]);
    let away = folder.0.join("away");
    std::fs::rename(folder.0.join("countersign.key"), &away).unwrap();
    folder.does_as("user add alice --role user");
    std::fs::rename(&away, folder.0.join("countersign.key")).unwrap();
    fs::create_dir(folder.0.join("other")).unwrap();
    let other = folder.run_with("serve", &[("COUNTERSIGN_STORE__STATE", "other")]);
    let expected = format!("error: another node (process {}) has the operations socket run/socket\nhint: ", node.pid());
    assert!(other.code == 1 && other.err.contains(&expected), "{}", other.err);
    let beside = [("COUNTERSIGN_LISTEN__OPERATIONS_SOCKET", "")];
    let ran = folder.run_with("user disable alice", &beside);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(folder.json("user list")[0]["disabled"], true);
    assert_eq!(node.ends_by("TERM").0, 0);
}
