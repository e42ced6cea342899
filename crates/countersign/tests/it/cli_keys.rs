//! `countersign keys …`, through the built binary.

use crate::cli_folder::{Folder, Served};
use serde_json::Value;

fn kids(document: &Value) -> Vec<String> {
    document.as_array().unwrap().iter().map(|key| key["kid"].as_str().unwrap().to_owned()).collect()
}

fn published(node: &Served) -> Vec<String> {
    kids(&node.ask("GET", "/.well-known/agent-jwks.json", "", "").json()["keys"])
}

///
#[test]
fn the_first_command_makes_the_key_and_all_others_find_it() {
    let folder = Folder::ready("keys-first");
    let first = folder.json("keys list");
    assert_eq!((kids(&first).len(), &first[0]["signs"]), (1, &true.into()));
    assert_eq!(folder.json("keys list"), first);
    assert_eq!(published(&folder.serve(&[])), kids(&first));
    assert!(folder.does("keys list").ends_with("  signs\n"));
}

#[test]
fn rotating_says_until_when_the_old_key_stays_published() {
    let folder = Folder::with_project("keys-rotate");
    let old = kids(&folder.json("keys list"));
    let said = folder.does("keys rotate");
    let now = folder.json("keys list");
    let (until, new) = (now[0]["published_until"].as_str().unwrap(), kids(&now)[1].clone());
    assert_eq!((kids(&now)[0].as_str(), &now[1]["signs"]), (old[0].as_str(), &true.into()));
    let expected = format!(
        "{new} signs from now on; nodes that run take it up within seconds\n{} stays published until {until}\n",
        old[0]
    );
    assert_eq!(said, expected);
}

#[test]
fn a_running_node_publishes_the_new_key_without_a_restart() {
    let folder = Folder::with_project("keys-running");
    let node = folder.serve(&[]);
    folder.does("keys rotate");
    let expected = kids(&folder.json("keys list"));
    // The node reloads keys every two seconds; this polls as fast as possible.
    let taken_up = (0..100_000).any(|_| published(&node) == expected);
    assert!(taken_up, "{:?} instead of {expected:?}", published(&node));
}
