//! Access control of the operations socket.

use super::socket_of;
use crate::cli_folder::Folder;
use std::{
    fs,
    os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _},
    process::Command,
};

fn mode(path: &std::path::Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn only_the_user_that_runs_the_node_can_use_its_operations_socket() {
    let folder = Folder::with_project("node-modes");
    let _node = folder.serve(&[]);
    let socket = socket_of(&folder);
    assert_eq!((mode(&socket), mode(socket.parent().unwrap())), (0o600, 0o700));
    let folder_owner = fs::metadata(&folder.0).unwrap().uid();
    if folder_owner != 0 {
        return; // Only root can become somebody else.
    }
    // Even with open file permissions, the node checks the peer's user id.
    fs::set_permissions(socket.parent().unwrap(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o666)).unwrap();
    let stranger = r#"
import socket, sys
node = socket.socket(socket.AF_UNIX)
node.connect(sys.argv[1])
try:
    node.sendall(b"GET /version HTTP/1.1\r\nHost: node\r\n\r\n")
    answer = node.recv(1)
except ConnectionError:
    answer = b""
sys.exit(7 if answer == b"" else 0)
"#;
    let ran = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/python3", "-c", stranger])
        .arg(&socket)
        .status();
    assert_eq!(ran.unwrap().code(), Some(7), "a stranger was answered");
}

#[test]
fn a_folder_that_others_can_write_to_is_refused_by_node_and_commands() {
    let folder = Folder::with_project("node-unsafe");
    fs::create_dir(folder.0.join("open")).unwrap();
    fs::set_permissions(folder.0.join("open"), fs::Permissions::from_mode(0o777)).unwrap();
    let elsewhere =
        [("COUNTERSIGN_LISTEN__OPERATIONS_SOCKET", "open/socket"), ("COUNTERSIGN_LISTEN__PUBLIC", "127.0.0.1:0")];
    for command in ["serve", "user list"] {
        let ran = folder.run_with(command, &elsewhere).refused();
        assert!(
            ran.err.starts_with("error: open, where the operations socket is, can be written to by others\nhint: ")
        );
    }
}

#[test]
fn a_file_that_is_no_socket_is_not_replaced() {
    let folder = Folder::with_project("node-file");
    folder.write("precious", "mine");
    let ran = folder.run_with("serve", &[("COUNTERSIGN_LISTEN__OPERATIONS_SOCKET", "precious")]);
    assert!(ran.code == 1 && ran.err.starts_with("error: precious is no socket, and is kept\nhint: "), "{}", ran.err);
    assert_eq!(folder.read("precious"), "mine");
}

/// R-38
#[test]
fn a_socket_that_a_killed_node_left_hinders_neither_commands_nor_the_next_start() {
    let folder = Folder::with_project("node-killed");
    folder.serve(&[]).dies();
    assert!(fs::symlink_metadata(socket_of(&folder)).unwrap().file_type().is_socket(), "it left nothing behind");
    folder.does_as("user add bob --role user");
    let node = folder.serve(&[]);
    folder.does("user disable bob");
    assert_eq!(node.ends_by("TERM").0, 0);
    assert!(!socket_of(&folder).exists(), "a node that ends takes its socket away");
    folder.does("user enable bob");
}

#[test]
fn a_folder_with_a_path_too_long_for_a_socket_has_one_all_the_same() {
    let folder = Folder::with_project(&format!("node-{}", "far".repeat(30)));
    let config = folder.0.join("countersign.toml").into_os_string().into_string().unwrap();
    let absolute = [("COUNTERSIGN_CONFIG", config.as_str())];
    let _node = folder.serve(&absolute);
    assert!(socket_of(&folder).as_os_str().len() > 108 && mode(&socket_of(&folder)) == 0o600);
    fs::remove_file(folder.0.join("countersign.key")).unwrap();
    assert_eq!(folder.run_with("user list", &absolute).err, "");
}
