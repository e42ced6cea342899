//! Opens a connection: to an address, never to a name.

use async_trait::async_trait;
use std::{io, net::SocketAddr};
use tokio::net::TcpStream;

/// A seam for tests, which record dialled addresses without connecting. Private to this crate, so that nobody can
/// bypass the guard.
#[async_trait]
pub(crate) trait Dial: Send + Sync {
    async fn dial(&self, address: SocketAddr) -> io::Result<TcpStream>;
}

pub(crate) struct Tcp;

#[async_trait]
impl Dial for Tcp {
    #[expect(clippy::disallowed_methods, reason = "the one place that dials, with an address that was judged")]
    async fn dial(&self, address: SocketAddr) -> io::Result<TcpStream> {
        TcpStream::connect(address).await
    }
}
