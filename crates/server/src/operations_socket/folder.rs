//! The folder of the operations socket. Write access to it would allow replacing the socket, so only its owner has it.

use super::{SocketError, unusable};
use std::{
    fs::{self, DirBuilder, File, Metadata},
    io,
    os::{
        fd::AsRawFd as _,
        unix::fs::{DirBuilderExt as _, MetadataExt as _},
    },
    path::{Path, PathBuf},
};
use tokio::net::UnixStream;

/// Creates the folder for its owner alone, if it is missing. An existing one is only checked.
pub(super) fn make(socket: &Path, own: u32) -> Result<(), SocketError> {
    let folder = of(socket);
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(why) if why.kind() != io::ErrorKind::AlreadyExists => return Err(unusable(socket)(why)),
        _ => {}
    }
    let found = fs::metadata(folder).map_err(unusable(socket))?;
    if found.uid() != own {
        return Err(SocketError::Unsafe { folder: folder.to_owned(), why: "belongs to another user" });
    }
    is_private(folder, &found)
}

/// The owner of the folder; `None` if it does not exist.
pub(super) fn owner(socket: &Path) -> Result<Option<u32>, SocketError> {
    let folder = of(socket);
    match fs::metadata(folder) {
        Ok(found) => is_private(folder, &found).map(|()| Some(found.uid())),
        Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(why) => Err(unusable(socket)(why)),
    }
}

fn is_private(folder: &Path, found: &Metadata) -> Result<(), SocketError> {
    match found.mode() & 0o022 {
        0 => Ok(()),
        _ => Err(SocketError::Unsafe { folder: folder.to_owned(), why: "can be written to by others" }),
    }
}

fn of(socket: &Path) -> &Path {
    socket.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The longest path that every system accepts as a socket address.
const LONGEST: usize = 100;

/// A socket path short enough to bind and connect to: a long one is addressed through its open folder.
pub(super) struct Address {
    pub(super) path: PathBuf,
    _folder: Option<File>,
}

impl Address {
    pub(super) fn of(socket: &Path) -> io::Result<Self> {
        if socket.as_os_str().len() <= LONGEST {
            return Ok(Self { path: socket.to_owned(), _folder: None });
        }
        let folder = File::open(of(socket))?;
        let name = socket.file_name().unwrap_or_default();
        let path = Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(name);
        Ok(Self { path, _folder: Some(folder) })
    }
}

/// The user of this process, as peers see it.
pub(super) fn own_uid() -> io::Result<u32> {
    let (this, _other) = UnixStream::pair()?;
    this.peer_cred().map(|cred| cred.uid())
}
