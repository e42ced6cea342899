//! Commands act through the running node, over its operations socket.

mod immediate;
mod listening;
mod socket;
mod without;

use crate::cli_folder::Folder;
use std::path::PathBuf;

/// The path of the operations socket of a folder's node.
fn socket_of(folder: &Folder) -> PathBuf {
    folder.0.join("countersign.db-operations/socket")
}
