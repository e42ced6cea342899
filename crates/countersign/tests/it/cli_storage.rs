//! Damage to the database files and the reaction of a node, through the built binary with real files.

mod clock;
mod files;
mod first_start;
mod lock;
mod old;
mod restore;
mod room;

use crate::cli_folder::{PASSWORD, Served};
use std::path::{Path, PathBuf};

fn database(folder: &Path) -> PathBuf {
    folder.join("countersign.db")
}

fn log(folder: &Path) -> PathBuf {
    folder.join("countersign.db-wal")
}

/// A request that must be durable before its response; returns the status.
fn signs_in(node: &Served) -> u16 {
    let body = format!("{{\"name\":\"alice\",\"password\":\"{PASSWORD}\"}}");
    node.ask("POST", "/session", "", &body).status
}
