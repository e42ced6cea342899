//! One SQLite file serves one node.

use crate::cli_folder::Folder;

///
#[test]
fn a_second_node_on_one_sqlite_file_is_refused_with_the_process_that_has_it() {
    let folder = Folder::with_project("storage-second");
    let node = folder.serve(&[]);
    let ran = folder.run_with("serve", &[("COUNTERSIGN_LISTEN__PUBLIC", "127.0.0.1:0")]).refused();
    let held = format!("error: the database countersign.db is in use by process {} since ", node.pid());
    assert!(ran.err.starts_with(&held), "{}", ran.err);
    assert!(ran.err.contains("\nhint: one SQLite file has one node: stop that process first"), "{}", ran.err);
    assert_eq!(node.ask_at("operations", "GET", "/readyz", "", "").status, 200);
}

///
#[test]
fn a_node_that_was_killed_leaves_its_file_free() {
    let folder = Folder::with_project("storage-killed");
    folder.serve(&[]).dies();
    assert_eq!(folder.serve(&[]).ends_by("TERM").0, 0);
}
