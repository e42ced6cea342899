//! The command line's end of the operations socket.

use super::{Peer, SocketError, connect, folder, unusable};
use crate::admin::{AdminRefusal, AdminRequest};
use bytes::Bytes;
use http::{Request, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use std::{io::ErrorKind, path::Path, time::Duration};
use tokio::{net::UnixStream, sync::Mutex, time::timeout};

/// A healthy node answers with its version at once.
const GREETING: Duration = Duration::from_secs(5);
/// Revoking waits for writes in flight, and hashing a password takes time.
const ANSWER: Duration = Duration::from_secs(60);

/// A running node, reached by its operations socket.
pub struct AdminClient {
    sender: Mutex<SendRequest<Full<Bytes>>>,
    peer: Peer,
    /// The node's version.
    version: String,
}

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum AdminError {
    #[error(transparent)]
    Refused(#[from] AdminRefusal),
    #[error(transparent)]
    Socket(#[from] SocketError),
}

impl AdminClient {
    /// Connects to the node that listens there; `None` if none does.
    pub async fn connect(path: &Path) -> Result<Option<Self>, SocketError> {
        let Some(owner) = folder::owner(path)? else { return Ok(None) };
        let stream = match connect(path).await {
            Ok(stream) => stream,
            Err(why) if matches!(why.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused) => return Ok(None),
            Err(why) if why.kind() == ErrorKind::PermissionDenied => {
                return Err(SocketError::Forbidden(path.to_owned()));
            }
            Err(why) => return Err(unusable(path)(why)),
        };
        let (peer, own) = (Peer::of(&stream).map_err(unusable(path))?, folder::own_uid().map_err(unusable(path))?);
        // Passwords are sent over this socket: the peer must be this user or root, or the folder's owner if this process is root.
        if peer.uid != own && peer.uid != 0 && !(own == 0 && peer.uid == owner) {
            return Err(SocketError::Forbidden(path.to_owned()));
        }
        let greeted = timeout(GREETING, Self::greet(stream, peer)).await;
        greeted.ok().flatten().map(Some).ok_or(SocketError::Silent(peer))
    }

    async fn greet(stream: UnixStream, peer: Peer) -> Option<Self> {
        let (mut sender, connection) = handshake(TokioIo::new(stream)).await.ok()?;
        tokio::spawn(connection);
        let request = Request::get("/version").header(header::HOST, "node").body(Full::default()).ok()?;
        let body = sender.send_request(request).await.ok()?.into_body().collect().await.ok()?.to_bytes();
        Some(Self { sender: Mutex::new(sender), peer, version: String::from_utf8_lossy(&body).into_owned() })
    }

    pub async fn ask<R: AdminRequest>(&self, request: &R) -> Result<R::Answer, AdminError> {
        let body = serde_json::to_vec(request).map_err(|_| self.other_version())?;
        let request = Request::post(format!("/{}", R::NAME))
            .header(header::HOST, "node")
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::from(body))
            .map_err(|_| self.other_version())?;
        let answered = timeout(ANSWER, self.send(request)).await;
        let (status, body) = answered.ok().flatten().ok_or(SocketError::NoAnswer(self.peer))?;
        match status {
            StatusCode::OK => Ok(serde_json::from_slice(&body).map_err(|_| self.other_version())?),
            StatusCode::CONFLICT => {
                let refusal: AdminRefusal = serde_json::from_slice(&body).map_err(|_| self.other_version())?;
                Err(refusal.into())
            }
            StatusCode::INTERNAL_SERVER_ERROR => Err(SocketError::NoAnswer(self.peer).into()),
            _ => Err(self.other_version().into()),
        }
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> Option<(StatusCode, Bytes)> {
        let mut sender = self.sender.lock().await;
        sender.ready().await.ok()?;
        let answer = sender.send_request(request).await.ok()?;
        let status = answer.status();
        Some((status, answer.into_body().collect().await.ok()?.to_bytes()))
    }

    fn other_version(&self) -> SocketError {
        SocketError::OtherVersion { peer: self.peer, theirs: self.version.clone(), ours: env!("CARGO_PKG_VERSION") }
    }
}
