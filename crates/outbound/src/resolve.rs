//! Resolves names to addresses, and dials addresses, never names. [`crate::guard`] checks each address in between, and
//! none is resolved twice.

use async_trait::async_trait;
use std::{
    io,
    net::{IpAddr, SocketAddr},
};
use tokio::net::TcpStream;

/// Resolves the addresses of a host. Called once per fetch.
#[async_trait]
pub trait Resolver: Send + Sync {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// The machine's own resolver.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemDns;

#[async_trait]
impl Resolver for SystemDns {
    #[expect(clippy::disallowed_methods, reason = "the one place that resolves; the guard judges what comes back")]
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        // The dot keeps search domains out: `acme.com` must never mean `acme.com.cluster.local`.
        let found = tokio::net::lookup_host((format!("{host}."), 443)).await?;
        Ok(found.map(|address| address.ip()).collect())
    }
}

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
