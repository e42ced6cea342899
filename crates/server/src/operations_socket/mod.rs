//! The operations socket: a Unix socket by which the command line reaches the running node, so that no change bypasses
//! the node's caches, streams and waiters.
//!
//! Only the node's user and root can connect: the folder and the socket belong to that user alone, and the user of every
//! peer is checked.

mod client;
mod folder;

pub use client::{AdminClient, AdminError};

use crate::admin;
use axum::serve::Listener;
use countersign_engine::Engine;
use std::{
    fs, io,
    os::unix::fs::{FileTypeExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use tokio::{
    net::{UnixListener, UnixStream},
    sync::watch,
};

#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    #[error("cannot use the operations socket {path}: {why}")]
    Unusable { path: PathBuf, why: io::Error },
    #[error("{folder}, where the operations socket is, {why}")]
    Unsafe { folder: PathBuf, why: &'static str },
    #[error("{0} is no socket, and is kept")]
    NotASocket(PathBuf),
    #[error("another node ({0}) has the operations socket {1}")]
    InUse(Peer, PathBuf),
    #[error("the operations socket {0} belongs to another user")]
    Forbidden(PathBuf),
    #[error("the node ({0}) does not respond at the operations socket; nothing was done")]
    Silent(Peer),
    #[error("the node ({0}) did not respond; the command may have been carried out")]
    NoAnswer(Peer),
    #[error("the node ({peer}) is countersign {theirs}, and does not know this request of countersign {ours}")]
    OtherVersion { peer: Peer, theirs: String, ours: &'static str },
}

/// The process at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    uid: u32,
    pid: Option<i32>,
}

impl Peer {
    fn of(stream: &UnixStream) -> io::Result<Self> {
        stream.peer_cred().map(|cred| Self { uid: cred.uid(), pid: cred.pid() })
    }
}

impl std::fmt::Display for Peer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.pid {
            Some(pid) => write!(f, "process {pid}"),
            None => write!(f, "of user {}", self.uid),
        }
    }
}

/// A socket in service; its file is removed when it is stopped or dropped.
pub struct OperationsSocket {
    file: SocketFile,
    stop: watch::Sender<bool>,
    served: tokio::task::JoinHandle<()>,
}

impl OperationsSocket {
    /// Serves an engine. The caller holds the database, so a socket left behind by a killed node is replaced.
    pub async fn serve(path: &Path, engine: Arc<Engine>) -> Result<Self, SocketError> {
        let own = folder::own_uid().map_err(unusable(path))?;
        folder::make(path, own)?;
        remove_stale(path).await?;
        let address = folder::Address::of(path).map_err(unusable(path))?;
        let listener = UnixListener::bind(&address.path).map_err(unusable(path))?;
        let file = SocketFile(path.to_owned());
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map_err(unusable(path))?;
        let (stop, mut stopped) = watch::channel(false);
        let serving = axum::serve(OwnersOnly { listener, own }, admin::router(engine))
            .with_graceful_shutdown(async move { drop(stopped.wait_for(|stop| *stop).await) });
        let served = tokio::spawn(async move { drop(serving.await) });
        Ok(Self { file, stop, served })
    }

    pub fn path(&self) -> &Path {
        &self.file.0
    }

    /// Accepts no more commands, and lets open ones finish for up to ten seconds.
    pub async fn stop(mut self) {
        drop(self.file);
        let _told = self.stop.send(true);
        if tokio::time::timeout(Duration::from_secs(10), &mut self.served).await.is_err() {
            self.served.abort();
        }
    }
}

/// Removes the file on drop.
struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        let _gone = fs::remove_file(&self.0);
    }
}

/// A killed node leaves its socket behind without a listener.
async fn remove_stale(path: &Path) -> Result<(), SocketError> {
    let Ok(found) = fs::symlink_metadata(path) else { return Ok(()) };
    if !found.file_type().is_socket() {
        return Err(SocketError::NotASocket(path.to_owned()));
    }
    match connect(path).await {
        Ok(other) => Err(SocketError::InUse(Peer::of(&other).map_err(unusable(path))?, path.to_owned())),
        Err(_) => fs::remove_file(path).map_err(unusable(path)),
    }
}

async fn connect(path: &Path) -> io::Result<UnixStream> {
    let address = folder::Address::of(path)?;
    UnixStream::connect(&address.path).await
}

fn unusable(path: &Path) -> impl FnOnce(io::Error) -> SocketError {
    let path = path.to_owned();
    move |why| SocketError::Unusable { path, why }
}

/// Accepts the node's user and root.
struct OwnersOnly {
    listener: UnixListener,
    own: u32,
}

impl Listener for OwnersOnly {
    type Io = UnixStream;
    type Addr = ();

    async fn accept(&mut self) -> (UnixStream, ()) {
        loop {
            match self.listener.accept().await.and_then(|(stream, _)| Ok((Peer::of(&stream)?, stream))) {
                Ok((peer, stream)) if peer.uid == self.own || peer.uid == 0 => return (stream, ()),
                Ok((peer, _)) => tracing::warn!(%peer, uid = peer.uid, "refused another user at the operations socket"),
                Err(why) => {
                    tracing::warn!(%why, "a command could not connect");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<()> {
        Ok(())
    }
}
