//! Commands act through the running node, by its operations socket.

mod immediate;
mod listening;
mod socket;
mod without;

use crate::cli_folder::Folder;
use std::path::PathBuf;

/// Where the socket of a folder's node is.
fn socket_of(folder: &Folder) -> PathBuf {
    folder.0.join("countersign.db-operations/socket")
}
